/// @file
/// `Store`: the interface of storage backends. A store performs steps (`store/step.hpp`). The
/// functions in `store/perform.hpp` submit a step and return its reply.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "routemaster/store/outcome.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Callback that receives the outcomes, in the order of the steps. It may move from them.
using Completion = std::function<void(std::span<Outcome>)>;

/// RAII subscription to wake-ups. The destructor cancels the subscription. Afterwards `wake` is not
/// called.
class Watch {
public:
    /// Constructs an empty subscription, without wake-ups.
    Watch() = default;
    /// `cancel` is called once, when the subscription is cancelled.
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

/// Interface of a storage backend, which stores a bus, its jobs, its timers and its counters.
///
/// Thread safety: all members may be called from any thread. In a forked child, steps fail with
/// `invalid`.
class Store {
public:
    virtual ~Store() = default;

    /// Performs each step atomically, in order, at the time `now`. Calls `done` when the outcomes,
    /// and all data that they depend on, are as durable as the store promises.
    ///
    /// `done` is called exactly once: inside this call, or later on a thread of the
    /// store, which is marked as a `CompletionThread`. `done` may submit steps, but must
    /// not block and must not destroy the store. The steps are moved from. If a step
    /// fails or times out, the other steps of the call are not affected. Throws
    /// `std::bad_alloc` if memory is too low to queue the steps; then no step was
    /// performed.
    virtual void submit(std::span<Step> steps, TimePoint now, Completion done) = 0;

    /// Calls `wake`, on any thread, whenever a job of `queue` may be acquired sooner than the last
    /// `AcquireJobs` returned. `wake` must not block and must not call the store. Wake-ups may be
    /// spurious, and wake-ups caused by another process may be lost. Callers must therefore also
    /// poll at long intervals.
    [[nodiscard]] virtual Watch watch(const std::string& queue, std::function<void()> wake) = 0;
};

/// Decorator that forwards all calls to another store. Derive from it to meter, to trace, or to
/// inject faults.
///
/// Thread safety: as safe as the wrapped store, which must outlive this store.
class ForwardingStore : public Store {
public:
    explicit ForwardingStore(Store& next) : next_{next} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

protected:
    /// Returns the wrapped store.
    [[nodiscard]] Store& next() const noexcept { return next_; }

private:
    Store& next_;
};

}  // namespace routemaster
