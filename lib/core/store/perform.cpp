#include "routemaster/store/perform.hpp"

#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <variant>

#include "routemaster/store/completion_thread.hpp"

namespace routemaster {
namespace {

bool in_doubt(const Outcome& outcome) {
    return !outcome && outcome.error().code() == Errc::timed_out;
}

/// Whether a settlement changed nothing.
bool lease_lost(const Reply& reply) {
    if (const auto* const end = std::get_if<Settlement>(&reply)) {
        return *end == Settlement::lease_lost;
    }
    const auto* const completed = std::get_if<Completed>(&reply);
    return completed != nullptr && completed->settlement == Settlement::lease_lost;
}

/// Replaces the result of a repeated step by the error of the first try, if this result proves
/// nothing. The reply of the first try was lost, so the store may have performed the step. An error
/// of the repetition does not prove that the first try failed. `lease_lost` does not prove it
/// either, because the first try may have ended the lease.
void keep_doubt(Outcome& repeated, const Error& doubt, const StepTraits& traits) {
    if (Changes{traits.changes} == Changes::nothing) return;
    if (!repeated || lease_lost(*repeated)) repeated = doubt;
}

}  // namespace

void detail::submit_repeatable(Store& store, Step step, TimePoint now,
                               std::function<void(Outcome&)> done, int repeats) {
    if (repeats <= 0) {
        store.submit({&step, 1}, now, [done = std::move(done)](std::span<Outcome> outcomes) {
            done(outcomes.front());
        });
        return;
    }
    Step first{step};
    store.submit(
        {&first, 1}, now,
        [&store, now, repeats, again = std::move(step),
         done = std::move(done)](std::span<Outcome> outcomes) mutable {
            auto& outcome = outcomes.front();
            if (!in_doubt(outcome)) return done(outcome);
            const auto& traits = traits_of(again);
            submit_repeatable(
                store, std::move(again), now,
                [&traits, doubt = outcome.error(), done = std::move(done)](Outcome& repeated) {
                    keep_doubt(repeated, doubt, traits);
                    done(repeated);
                },
                repeats - 1);
        });
}

std::vector<Outcome> perform_all(Store& store, std::span<Step> steps, TimePoint now) {
    if (CompletionThread::is_this()) {
        const Error refusal{
            Errc::invalid,
            "a blocking call is not allowed inside a completion; use the overload with `done`"};
        return std::vector<Outcome>(steps.size(), Outcome{refusal});
    }
    struct Waiting {
        std::mutex mutex;  // Guards the members below.
        std::condition_variable arrived;
        std::vector<Outcome> outcomes;
        bool there = false;
    } waiting;
    // The completion must not allocate memory, because the caller would wait for ever if it threw
    // an exception.
    waiting.outcomes.reserve(steps.size());
    store.submit(steps, now, [&waiting](std::span<Outcome> outcomes) {
        // Notifies while holding the lock. As soon as the lock is released, the waiting thread may
        // destroy the condition variable.
        const std::lock_guard lock{waiting.mutex};
        waiting.outcomes.assign(std::make_move_iterator(outcomes.begin()),
                                std::make_move_iterator(outcomes.end()));
        waiting.there = true;
        waiting.arrived.notify_one();
    });
    std::unique_lock lock{waiting.mutex};
    waiting.arrived.wait(lock, [&] { return waiting.there; });
    return std::move(waiting.outcomes);
}

Outcome detail::perform_any(Store& store, Step step, TimePoint now) {
    const auto& traits = traits_of(step);
    std::optional<Error> doubt;
    for (int repeats = traits.repeatable ? repeats_max : 0;; --repeats) {
        Step any{repeats > 0 ? Step{step} : Step{std::move(step)}};
        auto outcome = std::move(perform_all(store, {&any, 1}, now).front());
        if (repeats == 0 || !in_doubt(outcome)) {
            if (doubt) keep_doubt(outcome, *doubt, traits);
            return outcome;
        }
        doubt = outcome.error();
    }
}

}  // namespace routemaster
