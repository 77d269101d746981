/// @file
/// Helpers that give a store a step and get its reply.

#pragma once

#include <functional>
#include <optional>
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
    return std::get<typename S::Reply>(std::move(*outcome));
}

/// How often the helpers below repeat a repeatable step whose reply was lost, before they return
/// `timed_out`.
inline constexpr int repeats_max = 2;

/// What a repetition says of a step that was in doubt before: another error than `timed_out` would
/// deny that the step was done, which the first attempt may have achieved.
template <class S>
[[nodiscard]] Result<typename S::Reply> repeated_reply(Result<typename S::Reply> reply,
                                                       const Error& doubt) {
    if (reply || S::traits.changes == Changes::nothing) return reply;
    return doubt;
}

/// Performs one step; `done` gets its reply. See `Store::submit`. A `repeatable` step is idempotent
/// and is repeated when its reply is lost, at most `repeats` times; any other is `timed_out`. What
/// was in doubt once is `timed_out` unless a repetition gets a reply.
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
                         submit(
                             store, *std::move(again), now,
                             [doubt = outcome.error(),
                              done = std::move(done)](Result<typename S::Reply> reply) {
                                 done(repeated_reply<S>(std::move(reply), doubt));
                             },
                             repeats - 1);
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
    std::optional<Error> doubt;
    for (int repeats = S::traits.repeatable ? repeats_max : 0;; --repeats) {
        Step any{repeats > 0 ? Step{step} : Step{std::move(step)}};
        auto outcomes = perform_all(store, {&any, 1}, now);
        auto& outcome = outcomes.front();
        if (outcome || repeats == 0 || outcome.error().code() != Errc::timed_out) {
            auto reply = reply_of<S>(outcome);
            return doubt ? repeated_reply<S>(std::move(reply), *doubt) : reply;
        }
        doubt = outcome.error();
    }
}

}  // namespace routemaster
