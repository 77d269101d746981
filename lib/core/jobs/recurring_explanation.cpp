#include "routemaster/recurring_explanation.hpp"

#include "core/codec/job_name.hpp"
#include "core/codec/log_text.hpp"

namespace routemaster {
namespace {

std::string text_of_schedulers(const RecurringExplanation& explanation) {
    const auto& schedulers = explanation.schedulers;
    if (schedulers.lack() != QueueWorkers::Lack::worker) return {};
    return "no scheduler runs" + (schedulers.last_at
                                      ? "; the last one was heard of " +
                                            to_words(explanation.now - *schedulers.last_at) + " ago"
                                      : std::string{});
}

std::string text_of_workers(const RecurringExplanation& explanation) {
    if (!explanation.workers) return {};
    const auto& settings = explanation.recurring.settings;
    return to_text(*explanation.workers, "queue '" + settings.queue + "'",
                   detail::name_of_job(settings.job), explanation.now);
}

std::string text_of_tick(const RecurringExplanation& explanation) {
    const auto& recurring = explanation.recurring;
    if (recurring.paused) return "it is paused";
    if (recurring.next_at == never) return "its schedule has no further tick";
    const auto wait = recurring.next_at - explanation.now;
    return wait > Duration{0} ? "its next tick is in " + to_words(wait)
                              : "its tick has been due for " + to_words(-wait);
}

}  // namespace

std::string to_text(const RecurringExplanation& explanation) {
    auto text = text_of_tick(explanation);
    if (explanation.recurring.paused) return text;
    for (const auto& lack : {text_of_schedulers(explanation), text_of_workers(explanation)}) {
        if (!lack.empty()) text += "; " + lack;
    }
    return text;
}

}  // namespace routemaster
