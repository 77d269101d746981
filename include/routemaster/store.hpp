/// @file
/// The seam to storage: a store performs steps.

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

/// Is given what the steps came to, in their order. It may move the outcomes away.
using Completion = std::function<void(std::span<Outcome>)>;

/// A standing wish to be woken. Ends with its destruction; after that no wake-up comes any more.
class Watch {
public:
    /// One that watches nothing.
    Watch() = default;
    /// `cancel` is called once, when the watch ends.
    explicit Watch(std::function<void()> cancel) : cancel_{std::move(cancel)} {}
    Watch(Watch&& other) noexcept : cancel_{std::exchange(other.cancel_, nullptr)} {}
    Watch& operator=(Watch&& other) noexcept {
        std::swap(cancel_, other.cancel_);
        return *this;
    }
    ~Watch() {
        if (cancel_) cancel_();
    }

private:
    std::function<void()> cancel_;
};

/// Keeps the bus, its jobs and its counters.
///
/// Thread safety: all members may be called from any thread.
class Store {
public:
    virtual ~Store() = default;

    /// Performs each step atomically, in order, as of `now`; calls `done` once the outcomes are as
    /// durable as the store promises, and nothing they reveal can be lost any more.
    ///
    /// `done` is called exactly once: inside this call, or later from a thread of the store, which
    /// is marked as a `CompletionThread`. It must not block, nor destroy the store; it may submit.
    /// The steps are moved from. Steps of one call that are in doubt or fail do so each for itself.
    /// Throws `std::bad_alloc` when there is no memory to take the steps; then nothing happened.
    virtual void submit(std::span<Step> steps, TimePoint now, Completion done) = 0;

    /// Calls `wake`, from any thread, whenever a job of `queue` may be acquired sooner than the
    /// last `AcquireJobs` said. `wake` must not block and must not call the store. Wake-ups may be
    /// spurious, and a store in another process may lose one: keep a slow poll as a safety net.
    [[nodiscard]] virtual Watch watch(const std::string& queue, std::function<void()> wake) = 0;
};

/// A store that passes everything on to another: derive from it to meter, trace or disturb.
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

/// Takes the reply of a step of type `S` out of its outcome.
template <class S>
[[nodiscard]] Result<typename S::Reply> reply_of(Outcome& outcome) {
    if (!outcome) return outcome.error();
    return std::get<typename S::Reply>(std::move(*outcome));
}

/// How often the helpers below do a repeatable step again whose reply was lost, before they tell
/// that it is in doubt.
inline constexpr int repeats_max = 2;

/// Performs one step; `done` gets its reply. See `Store::submit`. A step that is `repeatable` is
/// repeated when its reply is lost, `repeats` times at most; of any other, that is `timed_out`.
template <class S>
void submit(Store& store, S step, TimePoint now,
            std::function<void(Result<typename S::Reply>)> done, int repeats = repeats_max) {
    std::optional<S> again;
    if (repeatable<S> && repeats > 0) again = step;
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

/// Performs several steps and waits for what they came to. Inside a completion that a store calls
/// from a thread of its own, each is refused as `invalid`: it would wait for itself.
[[nodiscard]] std::vector<Outcome> perform_all(Store& store, std::span<Step> steps, TimePoint now);

/// Performs one step and waits for its reply: the blocking helper. Repeats as `submit` does, and is
/// refused inside completions as `perform_all` is.
template <class S>
[[nodiscard]] Result<typename S::Reply> perform(Store& store, S step, TimePoint now) {
    for (int repeats = repeatable<S> ? repeats_max : 0;; --repeats) {
        Step any{repeats > 0 ? Step{step} : Step{std::move(step)}};
        auto outcomes = perform_all(store, {&any, 1}, now);
        auto& outcome = outcomes.front();
        if (outcome || repeats == 0 || outcome.error().code() != Errc::timed_out) {
            return reply_of<S>(outcome);
        }
    }
}

}  // namespace routemaster
