/// @file
/// Functions that perform steps in a store.

#pragma once

#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Extracts the reply from the outcome of a step of type `S`.
template <class S>
[[nodiscard]] Result<typename S::Reply> reply_of(Outcome& outcome) {
    if (!outcome) return outcome.error();
    return std::move((*outcome).template as<typename S::Reply>());
}

/// How often the functions below retry a repeatable step whose reply was lost, before they return
/// `timed_out`.
inline constexpr int repeats_max = 2;

namespace detail {

/// Untyped implementation of `submit` for repeatable steps.
void submit_repeatable(Store& store, Step step, TimePoint now, std::function<void(Outcome&)> done,
                       int repeats);
/// Untyped implementation of `perform`.
[[nodiscard]] Outcome perform_any(Store& store, Step step, TimePoint now);

}  // namespace detail

/// Performs one step, and passes its reply to `done`. See `Store::submit`. If the reply is lost, a
/// `repeatable` step is retried at most `repeats` times, and then fails with `timed_out`. A step
/// that is not repeatable fails with `timed_out` at once. After `timed_out`, the store may or may
/// not have performed the step.
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

/// Performs several steps, and waits for their outcomes. Must not be called inside a completion on
/// a thread of the store, because the thread would wait for itself. There every step fails with
/// `invalid`.
[[nodiscard]] std::vector<Outcome> perform_all(Store& store, std::span<Step> steps, TimePoint now);

/// Performs one step and waits for its reply. Retries the step as `submit` does, and fails inside
/// completions as `perform_all` does.
template <class S>
[[nodiscard]] Result<typename S::Reply> perform(Store& store, S step, TimePoint now) {
    auto outcome = detail::perform_any(store, std::move(step), now);
    return reply_of<S>(outcome);
}

}  // namespace routemaster
