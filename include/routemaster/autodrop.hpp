/// @file
/// `Autodrop`: drops the oldest batches while the store is too full.
///
///     measure ──above the high mark──► drop 100 ──► measure ──► … ──below the low mark──► rest
///                                         └─ nothing to drop: rest, and log an error

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

/// Measures the used space once per interval. Above the high mark, `Autodrop` drops the oldest
/// batches, 100 at a time, and measures again after each drop, until the store is below the low
/// mark. `Autodrop` logs each drop, and the store counts the dropped events in
/// `events.autodropped`.
///
/// If no batch is left to drop, other data fills the space. `Autodrop` then logs one error, and
/// measures again after the interval. `Autodrop` also waits for an interval after the store refused
/// an operation.
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

    /// Lets an operation under way finish, and drops nothing more. A drop that the store has begun
    /// is logged even if it ends after `deadline`, unless the store does not reply within 5 s after
    /// `deadline`.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
