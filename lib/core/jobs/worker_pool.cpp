#include "routemaster/worker_pool.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include "core/jobs/work/pool/handler_table.hpp"
#include "core/jobs/work/pool/pool_loop.hpp"
#include "core/store/completion_guard.hpp"
#include "core/system/owner_process.hpp"
#include "core/system/thread.hpp"
#include "core/work/handler_thread.hpp"
#include "routemaster/error.hpp"
#include "routemaster/names.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/store/step/check.hpp"

namespace routemaster {
namespace {

Failure refused(const std::string& what) { return Failure{Error{Errc::invalid, what}}; }

void check(const RetryPolicy& policy) {
    if (policy.wait_first < Duration{0} || policy.wait_max < Duration{0}) {
        throw refused("retry: a wait must not be negative");
    }
    if (policy.time_max < Duration{0}) throw refused("retry: time_max must not be negative");
    if (!(policy.factor >= 1)) throw refused("retry: factor must be at least 1");
    if (!(policy.jitter >= 0 && policy.jitter <= 1)) throw refused("retry: jitter must be 0 to 1");
    for (const auto& rule : policy.rules) {
        if (!rule.applies) throw refused("retry: a rule has no condition");
    }
}

WorkerPoolOptions checked(WorkerPoolOptions options) {
    if (options.queues.empty()) throw refused("queues: must not be empty");
    std::set<std::string> names;
    for (const auto& queue : options.queues) {
        if (!is_queue_name(queue.name)) {
            throw refused("queues: a name must be " + std::string{queue_name_rule});
        }
        check_not_deliveries("queues", queue.name).value();
        if (!names.insert(queue.name).second)
            throw refused("queues: " + queue.name + " is listed twice");
        if (queue.weight == 0) throw refused("queues: a weight must be at least 1");
    }
    if (options.order != QueueOrder::weighted && options.order != QueueOrder::strict) {
        throw refused("order: must be weighted or strict");
    }
    if (options.grace < Duration{0}) throw refused("grace: must not be negative");
    check(options.retry);
    return options;
}

}  // namespace

class WorkerPool::Impl {
public:
    const detail::OwnerProcess process{"worker pool"};

    Impl(Store& store, WorkerPoolOptions options)
        : clock_{options.clock != nullptr ? *options.clock : system_clock()},
          grace_{options.grace},
          retry_{options.retry},
          has_threads_{options.threads > 0},
          loop_{store, checked(std::move(options)), handlers_} {}

    void add(std::string name, detail::Handler handler, HandlerOptions options) {
        handlers_->add(std::move(name), complete(std::move(handler), std::move(options)));
    }

    void add_other(detail::Handler handler, HandlerOptions options) {
        handlers_->add_other(complete(std::move(handler), std::move(options)));
    }

    void use(JobMiddleware middleware) {
        declare();
        if (!middleware) throw refused("middleware: is empty");
        handlers_->use(std::move(middleware));
    }

    void start() {
        if (runner_ || stopped_) throw refused("start: the pool was started already");
        if (loop_.begun()) throw refused("start: the pool is already driven by poll()");
        if (!has_threads_) throw refused("start: a pool without threads must be driven by poll()");
        loop_.begin();
        runner_.emplace(loop_, clock_);
        started_ = true;
    }

    void stop(Duration grace) {
        if (!started_ || stopped_) return;
        runner_->stop(grace);
        loop_.join();
        stopped_ = true;
    }

    void run(const std::stop_token& stopping) {
        start();
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock{mutex};
        changed.wait(lock, stopping, [] { return false; });
        stop(grace_);
    }

    TimePoint poll(TimePoint now) {
        if (started_) throw refused("poll: the pool was started, and runs on its own threads");
        return loop_.poll(now);
    }

    [[nodiscard]] detail::PoolLoop& loop() noexcept { return loop_; }

    /// Whether the pool's threads were started, by `start` or `poll`, and not yet joined.
    [[nodiscard]] bool has_running_threads() const noexcept {
        return has_threads_ && loop_.begun() && !stopped_;
    }

    [[nodiscard]] std::optional<std::string> trouble() const {
        if (stopped_) return "the pool has been stopped";
        if (started_) {
            if (auto why = runner_->trouble()) return "the pool " + *why;
        }
        return loop_.trouble();
    }

private:
    [[nodiscard]] detail::Handler complete(detail::Handler handler, HandlerOptions options) const {
        declare();
        if (options.timeout < Duration{0}) throw refused("timeout: must not be negative");
        handler.retry = options.retry ? *std::move(options.retry) : retry_;
        handler.timeout = options.timeout;
        check(handler.retry);
        return handler;
    }

    void declare() const {
        if (started_ || loop_.begun()) throw refused("handlers: the pool has already started");
    }

    // The order matters: each member uses the members above it.
    const Clock& clock_;
    const Duration grace_;
    const RetryPolicy retry_;
    const bool has_threads_;
    std::shared_ptr<detail::HandlerTable> handlers_ = std::make_shared<detail::HandlerTable>();
    detail::PoolLoop loop_;
    std::optional<Runner> runner_;
    std::atomic<bool> started_{false};
    std::atomic<bool> stopped_{false};
};

WorkerPool::WorkerPool(Store& store, WorkerPoolOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

WorkerPool::~WorkerPool() {
    detail::leave_to_parent(impl_);
    if (impl_ == nullptr) return;
    detail::require_outside(detail::HandlerThread::is_of(&impl_->loop()), "worker pool",
                            "a handler");
    if (impl_->has_running_threads()) detail::require_outside_completion("worker pool");
    impl_->stop(Duration{0});
}

void WorkerPool::handle(std::string name, JobHandler handler, HandlerOptions options) {
    detail::own(impl_).add(std::move(name), {.handle = std::move(handler)}, std::move(options));
}

void WorkerPool::handle_async(std::string name, AsyncJobHandler handler, HandlerOptions options) {
    detail::own(impl_).add(std::move(name), {.begin = std::move(handler)}, std::move(options));
}

void WorkerPool::handle_others(JobHandler handler, HandlerOptions options) {
    detail::own(impl_).add_other({.handle = std::move(handler)}, std::move(options));
}

void WorkerPool::use(JobMiddleware middleware) { detail::own(impl_).use(std::move(middleware)); }

void WorkerPool::start() { detail::own(impl_).start(); }

void WorkerPool::stop(Duration grace) {
    detail::refuse_stop_in_completion();
    if (detail::HandlerThread::is_of(&detail::own(impl_).loop())) {
        throw refused("stop: must not be called inside a handler");
    }
    detail::own(impl_).stop(grace);
}

void WorkerPool::run(const std::stop_token& stopping) { detail::own(impl_).run(stopping); }

TimePoint WorkerPool::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void WorkerPool::wake_with(std::function<void()> wake) {
    detail::own(impl_).loop().wake_with(std::move(wake));
}

void WorkerPool::close(TimePoint deadline) { detail::own(impl_).loop().close(deadline); }

bool WorkerPool::closed() const { return detail::own(impl_).loop().closed(); }

WorkerPoolStatus WorkerPool::status() const { return detail::own(impl_).loop().status(); }

std::optional<std::string> WorkerPool::trouble() const { return detail::own(impl_).trouble(); }

}  // namespace routemaster
