/// @file
/// `RoomGuard`: refuses new events and jobs while the store has no room left.
///
///     measure ──above the high mark──► refuse ──► measure … ──below the low mark──► let in

#pragma once

#include <functional>
#include <memory>
#include <span>

#include "routemaster/active.hpp"
#include "routemaster/log.hpp"
#include "routemaster/room.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of a `RoomGuard`.
struct RoomGuardOptions {
    RoomOptions room{};
    Duration interval{1'000};  ///< From one look to the next.
    Log log{};
};

/// A store in front of another, for publishers to use: the alternative to `Autodrop`. While the
/// other is above its high mark, publications and pushes answer `unavailable`, which the HTTP API
/// tells as 503, and nothing is lost that was ever taken in. All other steps pass, so deliveries
/// make room. Below the low mark it lets everything in again.
///
/// Looks every interval how much room the store takes, and counts the bytes it let in since: what
/// comes in between two looks cannot exceed the mark by more than its copies for further
/// subscribers. While that cannot be measured, it goes by what it knows.
///
/// Thread safety: as a store, all members may be called from any thread; else as `Active` says.
class RoomGuard final : public ForwardingStore, public Active {
public:
    /// The store must outlive it.
    explicit RoomGuard(Store& store, RoomGuardOptions options = {});
    ~RoomGuard() override;
    RoomGuard(const RoomGuard&) = delete;
    RoomGuard& operator=(const RoomGuard&) = delete;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;

    /// Whether new events and jobs are refused at the moment.
    [[nodiscard]] bool full() const;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Measures nothing more; whether it refuses stays as it is.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
