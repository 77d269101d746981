/// @file
/// The interface to storage: a store performs steps (`step.hpp`). `perform.hpp` has helpers that
/// give it one and get its reply.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "routemaster/outcome.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Receives the outcomes of the steps, in their order. It may move them away.
using Completion = std::function<void(std::span<Outcome>)>;

/// A wake-up subscription; destroying it cancels it, and no wake-up comes after that.
class Watch {
public:
    /// Watches nothing.
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
/// Thread safety: all members may be called from any thread. A forked child gets `invalid`.
class Store {
public:
    virtual ~Store() = default;

    /// Performs each step atomically, in order, as of `now`; calls `done` once the outcomes are as
    /// durable as the store promises, and nothing that they depend on can be lost any more.
    ///
    /// `done` is called exactly once: inside this call, or later from a thread of the store, which
    /// is marked as a `CompletionThread`. It must not block, nor destroy the store; it may submit.
    /// The steps are moved from. Each step of a call fails, or is in doubt, on its own.
    /// Throws `std::bad_alloc` when there is no memory to take the steps; then nothing happened.
    virtual void submit(std::span<Step> steps, TimePoint now, Completion done) = 0;

    /// Calls `wake`, from any thread, whenever a job of `queue` may be acquired sooner than the
    /// last `AcquireJobs` returned. `wake` must not block and must not call the store. Wake-ups may
    /// be spurious, and a store in another process may lose one: poll slowly as well.
    [[nodiscard]] virtual Watch watch(const std::string& queue, std::function<void()> wake) = 0;
};

/// A store that forwards everything to another: derive from it to meter, trace or inject faults.
///
/// Thread safety: as the store behind it, which must outlive it.
class ForwardingStore : public Store {
public:
    explicit ForwardingStore(Store& next) : next_{next} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

protected:
    /// The store behind this one.
    [[nodiscard]] Store& next() const noexcept { return next_; }

private:
    Store& next_;
};

}  // namespace routemaster
