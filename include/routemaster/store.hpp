/// @file
/// `Store`: the interface to storage. A store performs steps (`step.hpp`). The helpers in
/// `perform.hpp` submit a step and return its reply.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "routemaster/outcome.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Receives the outcomes of the steps, in the order of the steps. May move from the outcomes.
using Completion = std::function<void(std::span<Outcome>)>;

/// A subscription to wake-ups. Its destructor cancels the subscription; after that no wake-up
/// comes.
class Watch {
public:
    /// An empty subscription, without wake-ups.
    Watch() = default;
    /// `cancel` is called once, when the watch ends.
    explicit Watch(std::function<void()> cancel) : cancel_{std::move(cancel)} {}
    Watch(Watch&& other) noexcept : cancel_{std::exchange(other.cancel_, nullptr)} {}
    Watch& operator=(Watch&& other) noexcept {
        const Watch ended{std::exchange(cancel_, std::exchange(other.cancel_, nullptr))};
        return *this;
    }
    ~Watch() {
        if (cancel_) cancel_();
    }

private:
    std::function<void()> cancel_;
};

/// Stores the bus, its jobs and its counters.
///
/// Thread safety: all members may be called from any thread. In a forked child, steps fail with
/// `invalid`.
class Store {
public:
    virtual ~Store() = default;

    /// Performs each step atomically, in order, at the time `now`. Calls `done` when the outcomes,
    /// and all data that they depend on, are as durable as the store promises.
    ///
    /// `done` is called exactly once: inside this call, or later from a thread of the store, which
    /// is marked as a `CompletionThread`. `done` may submit steps, but must not block and must not
    /// destroy the store.
    /// The steps are moved from. If a step fails or times out, this affects no other step of the
    /// call.
    /// Throws `std::bad_alloc` if there is no memory to take the steps; then no step was done.
    virtual void submit(std::span<Step> steps, TimePoint now, Completion done) = 0;

    /// Calls `wake`, from any thread, whenever a job of `queue` may be acquired sooner than the
    /// last `AcquireJobs` returned. `wake` must not block and must not call the store. Wake-ups may
    /// be spurious, and wake-ups from a store in another process may be lost; therefore poll at
    /// long intervals as well.
    [[nodiscard]] virtual Watch watch(const std::string& queue, std::function<void()> wake) = 0;
};

/// A store that forwards all calls to another store. Derive from it to meter, trace or inject
/// faults.
///
/// Thread safety: as safe as the next store, which must outlive this store.
class ForwardingStore : public Store {
public:
    explicit ForwardingStore(Store& next) : next_{next} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

protected:
    /// The store that receives the calls.
    [[nodiscard]] Store& next() const noexcept { return next_; }

private:
    Store& next_;
};

}  // namespace routemaster
