#include "routemaster/perform.hpp"

#include <condition_variable>
#include <iterator>
#include <mutex>

#include "routemaster/completion_thread.hpp"

namespace routemaster {

std::vector<Outcome> perform_all(Store& store, std::span<Step> steps, TimePoint now) {
    if (CompletionThread::is_this()) {
        const Error refusal{Errc::invalid,
                            "a blocking call inside a completion would wait for itself; use the "
                            "form with `done`"};
        return std::vector<Outcome>(steps.size(), Outcome{refusal});
    }
    struct Waiting {
        std::mutex mutex;  // Guards the two below.
        std::condition_variable arrived;
        std::optional<std::vector<Outcome>> outcomes;
    } waiting;
    store.submit(steps, now, [&waiting](std::span<Outcome> outcomes) {
        std::vector<Outcome> taken{std::make_move_iterator(outcomes.begin()),
                                   std::make_move_iterator(outcomes.end())};
        // Notifies under the lock: right after it, the waiter may destroy the condition.
        const std::lock_guard lock{waiting.mutex};
        waiting.outcomes = std::move(taken);
        waiting.arrived.notify_one();
    });
    std::unique_lock lock{waiting.mutex};
    waiting.arrived.wait(lock, [&] { return waiting.outcomes.has_value(); });
    return std::move(*waiting.outcomes);
}

}  // namespace routemaster
