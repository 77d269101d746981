#include "routemaster/batch_explanation.hpp"

#include "core/codec/log_text.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster {
namespace {

constexpr std::size_t shown_text_max = 200;

std::string lack_of_workers(const BatchExplanation& explanation) {
    using Lack = QueueWorkers::Lack;
    const auto& callback = explanation.callback;
    const auto& workers = explanation.workers;
    switch (workers.lack()) {
        case Lack::nothing: break;
        case Lack::worker:
            return "no worker delivers" +
                   (workers.last_at ? "; the last one was heard of " +
                                          to_words(explanation.now - *workers.last_at) + " ago"
                                    : std::string{});
        case Lack::handler:
            return callback.starts_with(local_scheme)
                       ? "no process that delivers has the callback '" +
                             detail::log_text(callback, shown_text_max) + "' registered"
                       : "no worker delivers to URLs";
        case Lack::capacity: return to_text(workers, "deliveries", callback, explanation.now);
    }
    return {};
}

std::string turn_of(const BatchExplanation& explanation) {
    if (explanation.before && explanation.max_in_flight <= 1) {
        return "batch " + std::string{explanation.before->text()} +
               " of its subscriber is before it";
    }
    auto text = explanation.before
                    ? "it is due, and other batches of its subscriber are before it, at most " +
                          std::to_string(explanation.max_in_flight) + " under way at once"
                    : std::string{"it is due, and is the next batch of its subscriber"};
    const auto& workers = explanation.workers;
    if (workers.handling == 0 && workers.unprofiled > 0) {
        text += "; " + std::to_string(workers.unprofiled) +
                (workers.unprofiled == 1 ? " worker does" : " workers do") +
                " not say whether they deliver";
    }
    return text;
}

}  // namespace

std::string to_text(const BatchExplanation& explanation) {
    const auto& batch = explanation.batch;
    if (batch.delivery == JobStatus::State::pending) return "it is being delivered";
    if (explanation.callback.empty()) return "its subscriber was removed";
    const auto lack = lack_of_workers(explanation);
    std::string text;
    if (batch.delivery == JobStatus::State::scheduled) {
        text = batch.status.attempts == 0 ? "it accepts events, and is not due yet"
                                          : "it waits for its next attempt";
        if (!lack.empty()) text += "; " + lack;
    } else if (explanation.before || lack.empty()) {
        text = turn_of(explanation);
        if (!lack.empty()) text += "; " + lack;
    } else {
        text = lack;
    }
    if (!batch.error.empty()) {
        text += "; the last attempt failed: " + detail::log_text(batch.error, shown_text_max);
    }
    return text;
}

}  // namespace routemaster
