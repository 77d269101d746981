/// @file
/// Helpers that give a store a step and get its reply.

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

/// `submit` for a step that is repeatable.
void submit_repeatable(Store& store, Step step, TimePoint now, std::function<void(Outcome&)> done,
                       int repeats);
/// `perform` for any step.
[[nodiscard]] Outcome perform_any(Store& store, Step step, TimePoint now);

}  // namespace detail

/// Performs one step; `done` gets its reply. See `Store::submit`. A `repeatable` step is idempotent
/// and is repeated when its reply is lost, at most `repeats` times; any other is `timed_out`. What
/// was in doubt once is `timed_out` unless a repetition gets a reply.
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

/// Performs several steps and waits for their outcomes. Inside a completion that a store calls from
/// a thread of its own, each is refused as `invalid`: it would wait for itself.
[[nodiscard]] std::vector<Outcome> perform_all(Store& store, std::span<Step> steps, TimePoint now);

/// Performs one step and waits for its reply: the blocking helper. Repeats as `submit` does, and is
/// refused inside completions as `perform_all` is.
template <class S>
[[nodiscard]] Result<typename S::Reply> perform(Store& store, S step, TimePoint now) {
    auto outcome = detail::perform_any(store, std::move(step), now);
    return reply_of<S>(outcome);
}

}  // namespace routemaster
