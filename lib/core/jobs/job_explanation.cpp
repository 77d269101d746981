#include "routemaster/job_explanation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/codec/job_name.hpp"
#include "core/schedule/unhandled_wait.hpp"

namespace routemaster {
namespace {

/// "job 3", "jobs 3 and 4", "jobs 3, 4 and 5".
std::string names(const std::vector<JobId>& jobs) {
    std::string all = jobs.size() == 1 ? "job" : "jobs";
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        all += i == 0 ? " " : i + 1 == jobs.size() ? " and " : ", ";
        all += std::to_string(jobs[i]);
    }
    return all;
}

std::string attempt_of(const JobStatus& status) {
    const auto most = status.options.attempts_max;
    return "attempt " + std::to_string(status.attempts + 1) +
           (most == 0 ? "" : " of " + std::to_string(most));
}

/// Whether a SCHEDULED job may have been released because a pool had no handler for it. Such a job
/// is due again within `unhandled_wait_max`.
bool awaits_handler(const JobExplanation& explanation) {
    const auto soon = saturating_add(explanation.now, detail::unhandled_wait_max);
    return explanation.workers && explanation.workers->lack() == QueueWorkers::Lack::handler &&
           explanation.status.run_at <= soon;
}

}  // namespace

JobExplanation::Reason JobExplanation::reason() const {
    switch (status.state) {
        case JobStatus::State::pending: return Reason::leased;
        case JobStatus::State::buried: return Reason::buried;
        case JobStatus::State::scheduled:
            if (!status.after.empty()) return Reason::awaits_jobs;
            return awaits_handler(*this) ? Reason::no_handler : Reason::not_due;
        case JobStatus::State::ready: break;
    }
    if (queue.paused) return Reason::queue_paused;
    if (!before.empty()) return Reason::group_is_full;
    if (queue_limited_until || group_limited_until) return Reason::rate_limited;
    switch (workers ? workers->lack() : QueueWorkers::Lack::nothing) {
        case QueueWorkers::Lack::worker: return Reason::no_worker;
        case QueueWorkers::Lack::handler: return Reason::no_handler;
        case QueueWorkers::Lack::capacity: return Reason::workers_busy;
        case QueueWorkers::Lack::nothing: break;
    }
    return Reason::awaits_worker;
}

std::string to_string(JobExplanation::Reason reason) {
    constexpr std::array<std::string_view, 11> words{
        "leased",       "buried",    "awaits_jobs", "not_due",      "queue_paused", "group_is_full",
        "rate_limited", "no_worker", "no_handler",  "workers_busy", "awaits_worker"};
    return std::string{words.at(static_cast<std::size_t>(reason))};
}

namespace {

/// Explains why the workers of the queue cannot run the job. Empty if they can.
std::string text_of_lack(const JobExplanation& explanation) {
    if (!explanation.workers) return {};
    return to_text(*explanation.workers, "its queue", detail::name_of_job(explanation.status.job),
                   explanation.now);
}

std::string text_of_wait(const JobExplanation& explanation) {
    const auto lack = text_of_lack(explanation);
    return "it is not due yet for " + attempt_of(explanation.status) +
           (lack.empty() ? "" : "; " + lack);
}

std::string text_of_turn(const JobExplanation& explanation) {
    const auto others = std::max<std::uint64_t>(explanation.queue.ready, 1) - 1;
    auto text = "it is READY for " + attempt_of(explanation.status);
    if (others == 0) {
        text += ", and it is next";
    } else if (others == 1) {
        text += ", as is 1 other job of its queue";
    } else {
        text += ", as are " + std::to_string(others) + " other jobs of its queue";
    }
    const auto& workers = explanation.workers;
    if (workers && workers->handling == 0 && workers->unprofiled > 0) {
        text += "; " + std::to_string(workers->unprofiled) +
                (workers->unprofiled == 1 ? " worker does not say which queues and jobs it serves"
                                          : " workers do not say which queues and jobs they serve");
    }
    return text;
}

std::string text_of_reason(const JobExplanation& explanation) {
    using Reason = JobExplanation::Reason;
    const auto& status = explanation.status;
    switch (explanation.reason()) {
        case Reason::leased:
            return "worker " + (status.worker ? std::string{status.worker->text()} : "?") +
                   " has it" + (status.cancelled ? ", and is asked to stop" : "");
        case Reason::buried:
            return status.errors.empty() ? "it was given up"
                                         : "it was given up: " + status.errors.back().text;
        case Reason::awaits_jobs:
            return names(status.after) + " must be done before it" +
                   (explanation.buried.empty()
                        ? ""
                        : ", and " + names(explanation.buried) +
                              (explanation.buried.size() == 1 ? " is" : " are") + " BURIED");
        case Reason::not_due: return text_of_wait(explanation);
        case Reason::queue_paused: return "its queue is paused";
        case Reason::group_is_full:
            return names(explanation.before) + " of its group '" + status.options.group +
                   "', of which " + std::to_string(explanation.concurrency) +
                   " may be under way, " + (explanation.before.size() == 1 ? "is" : "are") +
                   " before it";
        case Reason::rate_limited:
            if (!explanation.group_limited_until) return "the rate limit of its queue is used up";
            return std::string{explanation.queue_limited_until ? "the rate limits of its queue and "
                                                               : "the rate limit of "} +
                   "its group '" + status.options.group + "' " +
                   (explanation.queue_limited_until ? "are" : "is") + " used up";
        case Reason::no_handler:
            if (status.state == JobStatus::State::scheduled) return text_of_wait(explanation);
            return text_of_lack(explanation);
        case Reason::no_worker:
        case Reason::workers_busy: return text_of_lack(explanation);
        case Reason::awaits_worker: return text_of_turn(explanation);
    }
    return {};
}

}  // namespace

std::string to_text(const JobExplanation& explanation) {
    const auto& status = explanation.status;
    const auto deaths = deaths_in(status.errors, status.attempts);
    const bool waits =
        status.state == JobStatus::State::scheduled || status.state == JobStatus::State::ready;
    auto text = text_of_reason(explanation);
    if (waits && deaths >= isolated_deaths) {
        text +=
            "; " + std::to_string(deaths) +
            " of its attempts ended with the death of a worker: jobs with such attempts run singly";
    }
    return text;
}

}  // namespace routemaster
