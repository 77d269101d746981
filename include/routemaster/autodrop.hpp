/// @file
/// `Autodrop`: gives up the oldest batches when the store has no space left.
///
///     measure ──above the high mark──► drop 100 ──► measure ──► … ──below the low mark──► rest
///                                         └─ nothing to drop: rest, and tell a person

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
    Duration interval{10'000};  ///< From one look to the next.
    Log log{};
};

/// Looks every interval how much space the store takes. Above the high mark it drops the oldest
/// batches, 100 at a time, and measures again after each time, until the store is below the low
/// mark. Every drop is logged, and counted by the store in `events.autodropped`.
///
/// When there is nothing left to drop, the space is taken by something else. Then it says so once
/// and looks again an interval later. What the store cannot do is tried again then, too.
///
/// Any number of them may share a store: each may drop up to 100 batches beyond the low mark.
///
/// Thread safety: as `Active` says.
class Autodrop final : public Active {
public:
    /// The store must outlive it.
    explicit Autodrop(Store& store, AutodropOptions options = {});
    ~Autodrop() override;
    Autodrop(const Autodrop&) = delete;
    Autodrop& operator=(const Autodrop&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Lets a step under way end, and drops nothing more. A drop that the store has begun is logged
    /// whenever the deadline is; only if the store does not answer for 5 s beyond it, it is not.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
