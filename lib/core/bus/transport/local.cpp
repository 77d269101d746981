#include "routemaster/transport/local.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/store/completion_guard.hpp"
#include "core/system/owner_process.hpp"
#include "core/system/thread.hpp"
#include "core/work/handler_thread.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/reject.hpp"
#include "routemaster/result.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster {

class LocalTransport::Impl {
public:
    const detail::OwnerProcess process{"local transport"};

    Impl(const LocalTransport& owner, Callbacks& callbacks, LocalTransportOptions options)
        : owner_{owner}, callbacks_{callbacks}, calls_inside_{options.threads == 0} {
        for (std::size_t i = 0; i < options.threads; ++i) {
            threads_.push_back(
                detail::start_thread<std::jthread>([this](const std::stop_token& stopped) {
                    const detail::HandlerThread mark{&owner_};
                    work(stopped);
                }));
        }
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    ~Impl() {
        detail::require_outside(detail::HandlerThread::is_of(&owner_), "local transport",
                                "a callback");
        if (!threads_.empty()) detail::require_outside_completion("local transport");
        for (auto& thread : threads_) thread.request_stop();
        threads_.clear();
        for (auto& [delivery, done] : waiting_) {
            done({Error{Errc::cancelled, "local transport is closing"}, 0});
        }
    }

    [[nodiscard]] std::vector<std::string> destinations() const { return callbacks_.names(); }
    void attach() { callbacks_.attach(); }

    void deliver(Delivery delivery, DeliveryDone done) {
        if (calls_inside_) return done(call(delivery));
        const std::lock_guard lock{mutex_};
        waiting_.emplace_back(std::move(delivery), std::move(done));
        arrived_.notify_one();
    }

    [[nodiscard]] bool withdraw(const Uid& batch) {
        std::list<Work> taken;
        {
            const auto is_batch = [&](const Work& any) { return any.first.batch == batch; };
            const std::lock_guard lock{mutex_};
            if (std::any_of(running_.begin(), running_.end(), is_batch)) return false;
            const auto found = std::find_if(waiting_.begin(), waiting_.end(), is_batch);
            if (found == waiting_.end()) return true;
            taken.splice(taken.end(), waiting_, found);
        }
        taken.front().second(
            {Error{Errc::cancelled, "the delivery was withdrawn before its callback began"}, 0});
        return true;
    }

private:
    using Work = std::pair<Delivery, DeliveryDone>;

    void work(const std::stop_token& stopped) {
        for (auto next = take(stopped); next != running_.end(); next = take(stopped)) {
            auto& [delivery, done] = *next;
            auto report = call(delivery);
            process.require_at_return();
            done(std::move(report));
            std::list<Work> ended;  // Destroyed after the lock is released.
            const std::lock_guard lock{mutex_};
            ended.splice(ended.end(), running_, next);
        }
    }

    /// Waits for the next delivery and moves it to `running_`, without an allocation. Returns the
    /// end of `running_` after a stop.
    std::list<Work>::iterator take(const std::stop_token& stopped) {
        std::unique_lock lock{mutex_};
        if (!arrived_.wait(lock, stopped, [this] { return !waiting_.empty(); }) ||
            stopped.stop_requested()) {
            return running_.end();
        }
        running_.splice(running_.begin(), waiting_, waiting_.begin());
        return running_.begin();
    }

    DeliveryReport call(const Delivery& delivery) const {
        try {
            return call_with_memory(delivery);
        } catch (const std::bad_alloc&) {
            return {.outcome = Error{Errc::unavailable, "out of memory"}};
        }
    }

    DeliveryReport call_with_memory(const Delivery& delivery) const {
        const auto name = std::string_view{delivery.callback}.substr(local_scheme.size());
        const auto handler = callbacks_.find(name);
        if (handler == nullptr) {
            return {
                .outcome = Error{Errc::unavailable, "this process has not registered the callback"},
                .unnamed = true};
        }
        Batch batch{.uid = delivery.batch,
                    .subscriber = delivery.subscriber,
                    .attempt = delivery.attempt,
                    .created_at = delivery.created_at,
                    .events = {}};
        batch.events.reserve(delivery.messages.size());
        for (const auto message : delivery.messages) {
            if (auto event = decode_message(message)) batch.events.push_back(*std::move(event));
        }
        const auto undecodable = delivery.messages.size() - batch.events.size();
        auto report = run(*handler, batch);
        report.undecodable = undecodable;
        return report;
    }

    static DeliveryReport run(const BatchHandler& handler, const Batch& batch) {
        const auto failed = [](std::string why, bool permanent = false) -> DeliveryReport {
            return {.outcome = Error{Errc::unavailable, std::move(why)}, .permanent = permanent};
        };
        try {
            handler(batch);
            return {};
        } catch (const Reject& rejection) {
            return failed(std::string{"callback rejected the batch: "} + rejection.what(), true);
        } catch (const std::exception& failure) {
            return failed(std::string{"callback threw: "} + failure.what());
        } catch (...) {
            return failed("callback threw something other than an exception");
        }
    }

    const LocalTransport& owner_;
    Callbacks& callbacks_;
    const bool calls_inside_;
    std::mutex mutex_;  // Guards `waiting_` and `running_`.
    std::condition_variable_any arrived_;
    std::list<Work> waiting_;
    std::list<Work> running_;  // Deliveries whose results are not yet reported.
    std::vector<std::jthread> threads_;
};

LocalTransport::LocalTransport(Callbacks& callbacks, LocalTransportOptions options)
    : impl_{std::make_unique<Impl>(*this, callbacks, options)} {}

LocalTransport::~LocalTransport() { detail::leave_to_parent(impl_); }

bool LocalTransport::serves(std::string_view callback) const {
    return callback.starts_with(local_scheme);
}

std::vector<std::string> LocalTransport::destinations() const {
    return detail::own(impl_).destinations();
}

void LocalTransport::attach() { detail::own(impl_).attach(); }

void LocalTransport::deliver(Delivery delivery, DeliveryDone done) {
    if (!impl_->process.is_this()) return done({impl_->process.refusal(), 0});
    impl_->deliver(std::move(delivery), std::move(done));
}

bool LocalTransport::withdraw(const Uid& batch) { return detail::own(impl_).withdraw(batch); }

}  // namespace routemaster
