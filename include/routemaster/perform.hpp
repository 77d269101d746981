/// @file
/// Helpers for performing steps in a store.

#pragma once

#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// The reply in the outcome of a step of type `S`.
template <class S>
[[nodiscard]] Result<typename S::Reply> reply_of(Outcome& outcome) {
    if (!outcome) return outcome.error();
    return std::move((*outcome).template as<typename S::Reply>());
}

/// How often the helpers below repeat a repeatable step whose reply was lost, before they return
/// `timed_out`.
inline constexpr int repeats_max = 2;

namespace detail {

/// `submit` for a repeatable step.
void submit_repeatable(Store& store, Step step, TimePoint now, std::function<void(Outcome&)> done,
                       int repeats);
/// `perform` for any step.
[[nodiscard]] Outcome perform_any(Store& store, Step step, TimePoint now);

}  // namespace detail

/// Performs one step and passes its reply to `done`. See `Store::submit`.
/// If the reply is lost, a `repeatable` step is submitted again, at most `repeats` times. Any other
/// step fails with `timed_out`: the store may have done the step. After a lost reply, a repeatable
/// step fails with `timed_out` unless a repetition gets a reply.
template <class S>
void submit(Store& store, S step, TimePoint now,
            std::function<void(Result<typename S::Reply>)> done, int repeats = repeats_max) {
    if constexpr (S::traits.repeatable) {
        detail::submit_repeatable(
            store, std::move(step), now,
            [done = std::move(done)](Outcome& outcome) { done(reply_of<S>(outcome)); }, repeats);
    } else {
        Step any{std::move(step)};
        store.submit({&any, 1}, now, [done = std::move(done)](std::span<Outcome> outcomes) {
            done(reply_of<S>(outcomes.front()));
        });
    }
}

/// Performs several steps and waits for their outcomes. Must not be called inside a completion that
/// runs on a thread of the store, because the thread would wait for itself: each step is then
/// refused as `invalid`.
[[nodiscard]] std::vector<Outcome> perform_all(Store& store, std::span<Step> steps, TimePoint now);

/// Performs one step and waits for its reply. Repeats the step as `submit` does, and is refused
/// inside completions as `perform_all` is.
template <class S>
[[nodiscard]] Result<typename S::Reply> perform(Store& store, S step, TimePoint now) {
    auto outcome = detail::perform_any(store, std::move(step), now);
    return reply_of<S>(outcome);
}

}  // namespace routemaster
