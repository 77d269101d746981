#include "routemaster/perform.hpp"

#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <variant>

#include "routemaster/completion_thread.hpp"

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

/// After a step in doubt, the error of its repetition does not prove that the step was not
/// performed: the first try may have performed it. The error of the first try remains. The same
/// applies to `lease_lost`, as a settlement ends the lease.
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
        const Error refusal{Errc::invalid,
                            "a blocking call inside a completion would wait for itself; use the "
                            "form with `done`"};
        return std::vector<Outcome>(steps.size(), Outcome{refusal});
    }
    struct Waiting {
        std::mutex mutex;  // Guards the rest.
        std::condition_variable arrived;
        std::vector<Outcome> outcomes;
        bool there = false;
    } waiting;
    // The reply must not allocate memory: otherwise the caller could wait for ever.
    waiting.outcomes.reserve(steps.size());
    store.submit(steps, now, [&waiting](std::span<Outcome> outcomes) {
        // Notifies under the lock: right after the lock, the waiter may destroy the condition.
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
