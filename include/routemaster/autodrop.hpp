/// @file
/// `Autodrop`: drops the oldest batches when the store has no space left.
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
    Duration interval{10'000};  ///< From one measurement to the next.
    Log log{};
};

/// Measures every interval how much space the store takes. Above the high mark it drops the oldest
/// batches, 100 at a time, and measures again after each time, until the store is below the low
/// mark. It logs every drop, and the store counts them in `events.autodropped`.
///
/// When there is nothing left to drop, something else takes the space. Then it logs one error and
/// measures again an interval later. A step that the store refused is tried again then, too.
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

    /// Lets a step under way end, and drops nothing more. It logs a drop that the store has begun
    /// whenever the deadline is, unless the store does not reply for 5 s beyond it.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
