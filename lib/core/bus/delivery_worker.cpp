#include "routemaster/delivery_worker.hpp"

#include <atomic>
#include <utility>

#include "core/bus/work/renewed_dispatcher.hpp"
#include "core/store/completion_guard.hpp"
#include "core/system/owner_process.hpp"
#include "core/system/thread.hpp"
#include "core/work/handler_thread.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/error.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/transport/local.hpp"

namespace routemaster {
namespace {

Failure refused(const char* what) { return Failure{Error{Errc::invalid, what}}; }

DispatcherOptions dispatcher_options(const DeliveryWorkerOptions& options, Transport* local) {
    DispatcherOptions made{.in_flight_max = options.in_flight_max,
                           .health = options.health,
                           .worker_silence = options.worker_silence,
                           .poll_interval = options.poll_interval,
                           .log = options.log};
    if (local != nullptr) made.transports.push_back(local);
    for (const auto& transport : options.transports) {
        if (transport == nullptr) throw refused("transports: must not contain a null pointer");
        made.transports.push_back(transport.get());
    }
    if (made.in_flight_max == 0) throw refused("in_flight_max: must be at least 1");
    if (made.transports.empty()) throw refused("transports: must not be empty");
    return made;
}

std::unique_ptr<LocalTransport> local_transport(Callbacks* callbacks, std::size_t threads) {
    if (callbacks == nullptr) return nullptr;
    if (threads == 0) throw refused("callback_threads: must be at least 1");
    return std::make_unique<LocalTransport>(*callbacks, LocalTransportOptions{threads});
}

SpareThread* spare_thread(const DeliveryWorkerOptions& options) {
    for (const auto& transport : options.transports) {
        if (auto* spare = transport->spare_thread()) return spare;
    }
    return nullptr;
}

}  // namespace

class DeliveryWorker::Impl {
public:
    const detail::OwnerProcess process{"delivery worker"};

    Impl(Store& store, Callbacks* callbacks, const Clock& clock, DeliveryWorkerOptions options)
        : options_{std::move(options)},
          local_{local_transport(callbacks, options_.callback_threads)},
          dispatcher_{store, dispatcher_options(options_, local_.get())},
          runner_{dispatcher_, clock, spare_thread(options_)} {}

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    ~Impl() {
        detail::require_outside(in_callback(), "delivery worker", "a callback");
        detail::require_outside_completion("delivery worker");
    }

    void stop(Duration grace) {
        detail::refuse_stop_in_completion();
        if (in_callback()) {
            throw refused("stop: must not be called inside a callback");
        }
        runner_.stop(grace);
        stopped_ = true;
    }

    [[nodiscard]] std::size_t in_flight() const noexcept { return dispatcher_.in_flight(); }

    [[nodiscard]] std::optional<std::string> trouble() const {
        if (stopped_) return "deliveries have been stopped";
        if (auto why = runner_.trouble()) return "the dispatcher " + *why;
        return dispatcher_.trouble();
    }

private:
    [[nodiscard]] bool in_callback() const { return detail::HandlerThread::is_of(local_.get()); }

    // The order matters: each member uses the members above it.
    DeliveryWorkerOptions options_;
    std::unique_ptr<LocalTransport> local_;
    detail::RenewedDispatcher dispatcher_;
    Runner runner_;
    std::atomic<bool> stopped_{false};
};

DeliveryWorker::DeliveryWorker(Bus& bus, DeliveryWorkerOptions options) {
    const auto& clock = options.clock != nullptr ? *options.clock : bus.clock();
    impl_ = std::make_unique<Impl>(bus.store(), &bus.callbacks(), clock, std::move(options));
}

DeliveryWorker::DeliveryWorker(Store& store, DeliveryWorkerOptions options) {
    const auto& clock = options.clock != nullptr ? *options.clock : system_clock();
    impl_ = std::make_unique<Impl>(store, nullptr, clock, std::move(options));
}

DeliveryWorker::~DeliveryWorker() { detail::leave_to_parent(impl_); }

void DeliveryWorker::stop(Duration grace) { detail::own(impl_).stop(grace); }

std::size_t DeliveryWorker::in_flight() const noexcept { return impl_->in_flight(); }

std::optional<std::string> DeliveryWorker::trouble() const { return detail::own(impl_).trouble(); }

}  // namespace routemaster
