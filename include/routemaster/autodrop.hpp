/// @file
/// `Autodrop`: drops the oldest batches while the store is too full.
///
///     measure ──above the high mark──► drop 100 ──► measure ──► … ──below the low mark──► wait
///                                         └─ nothing to drop: log an error, and wait

#pragma once

#include <functional>
#include <memory>

#include "routemaster/active.hpp"
#include "routemaster/capacity.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of an `Autodrop`.
struct AutodropOptions {
    CapacityOptions capacity{};
    Duration interval{10'000};  ///< The time from one measurement to the next.
    Log log{};
};

/// Polled object that drops the oldest batches of a store while the store is too full. The used
/// space is measured once per interval. Above the high mark, 100 batches at a time are dropped,
/// with a new measurement after each drop, until the used space is below the low mark. Each drop is
/// logged. The store counts the dropped events in `events.autodropped`.
///
/// If no batch is left to drop, the space is used by other data. `Autodrop` then logs one error,
/// and measures again after the interval. `Autodrop` also waits for an interval after the store
/// returned an error.
///
/// Several `Autodrop` objects may share a store. Each of them may drop up to 100 batches more than
/// necessary.
///
/// Thread safety: as `Active` says.
class Autodrop final : public Active {
public:
    /// The store must outlive this object.
    explicit Autodrop(Store& store, AutodropOptions options = {});
    ~Autodrop() override;
    Autodrop(const Autodrop&) = delete;
    Autodrop& operator=(const Autodrop&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Begins no further drop. A drop that was already sent to the store is logged even if it
    /// completes after `deadline`, unless the store does not reply within 5 s after
    /// `deadline`.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
