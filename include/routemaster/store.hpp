/// @file
/// The interface to storage: a store performs steps.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
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
/// Thread safety: all members may be called from any thread.
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

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        next_.submit(steps, now, std::move(done));
    }
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return next_.watch(queue, std::move(wake));
    }

protected:
    /// The store behind this one.
    [[nodiscard]] Store& next() const noexcept { return next_; }

private:
    Store& next_;
};

/// The reply in the outcome of a step of type `S`.
template <class S>
[[nodiscard]] Result<typename S::Reply> reply_of(Outcome& outcome) {
    if (!outcome) return outcome.error();
    return std::get<typename S::Reply>(std::move(*outcome));
}

/// How often the helpers below repeat a repeatable step whose reply was lost, before they return
/// `timed_out`.
inline constexpr int repeats_max = 2;

/// Performs one step; `done` gets its reply. See `Store::submit`. A `repeatable` step is idempotent
/// and is repeated when its reply is lost, at most `repeats` times; any other is `timed_out`.
template <class S>
void submit(Store& store, S step, TimePoint now,
            std::function<void(Result<typename S::Reply>)> done, int repeats = repeats_max) {
    std::optional<S> again;
    if (S::traits.repeatable && repeats > 0) again = step;
    Step any{std::move(step)};
    store.submit({&any, 1}, now,
                 [&store, now, repeats, again = std::move(again),
                  done = std::move(done)](std::span<Outcome> outcomes) mutable {
                     auto& outcome = outcomes.front();
                     if (again && !outcome && outcome.error().code() == Errc::timed_out) {
                         submit(store, *std::move(again), now, std::move(done), repeats - 1);
                     } else {
                         done(reply_of<S>(outcome));
                     }
                 });
}

/// Performs several steps and waits for their outcomes. Inside a completion that a store calls from
/// a thread of its own, each is refused as `invalid`: it would wait for itself.
[[nodiscard]] std::vector<Outcome> perform_all(Store& store, std::span<Step> steps, TimePoint now);

/// Performs one step and waits for its reply: the blocking helper. Repeats as `submit` does, and is
/// refused inside completions as `perform_all` is.
template <class S>
[[nodiscard]] Result<typename S::Reply> perform(Store& store, S step, TimePoint now) {
    for (int repeats = S::traits.repeatable ? repeats_max : 0;; --repeats) {
        Step any{repeats > 0 ? Step{step} : Step{std::move(step)}};
        auto outcomes = perform_all(store, {&any, 1}, now);
        auto& outcome = outcomes.front();
        if (outcome || repeats == 0 || outcome.error().code() != Errc::timed_out) {
            return reply_of<S>(outcome);
        }
    }
}

}  // namespace routemaster
