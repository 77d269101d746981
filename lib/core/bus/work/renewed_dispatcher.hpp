/// @file
/// `RenewedDispatcher`: a dispatcher that is replaced when memory was exhausted.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "routemaster/active.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Wrapper of a `Dispatcher`. A poll that ran out of memory may have lost events. Its dispatcher is
/// then abandoned like a killed process. The dispatcher sends no more heartbeats, and after
/// `worker_silence` its jobs are due again. A new dispatcher replaces it.
///
/// Thread safety: `in_flight` and `trouble` from any thread, the rest as for an `Active`.
class RenewedDispatcher final : public Active {
public:
    /// The store and the transports must outlive the object.
    RenewedDispatcher(Store& store, DispatcherOptions options);

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override { return dispatcher_->closed(); }

    [[nodiscard]] std::size_t in_flight() const noexcept;
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    static constexpr Duration pause{100};

    void renew();

    Store& store_;
    DispatcherOptions options_;
    std::function<void()> wake_;
    std::optional<TimePoint> close_at_;
    bool given_up_ = false;
    mutable std::mutex mutex_;  // Guards the pointer.
    std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace routemaster::detail
