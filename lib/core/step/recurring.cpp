#include "routemaster/step/recurring.hpp"

#include <string>
#include <utility>

#include "routemaster/job_schedule.hpp"
#include "routemaster/names.hpp"

namespace routemaster {

PushJob push_of(const std::string& name, const RecurringSettings& settings, TimePoint tick,
                TimePoint now) {
    PushJob push{.queue = settings.queue, .job = settings.job, .run_at = now};
    push.options = {.attempts_max = settings.attempts_max,
                    .priority = settings.priority,
                    .timeout = settings.timeout,
                    .metadata = settings.metadata};
    if (settings.expires != Duration{0}) {
        push.options.expires_at = saturating_add(now, settings.expires);
    }
    const auto at = std::to_string(to_milliseconds(tick));
    // By a key, equal jobs do not exclude each other, and each tick has its own.
    if (settings.overlap) push.options.key.text = "recurring:" + name + ":" + at;
    push.options.metadata.insert_or_assign("recurring", name);
    push.options.metadata.insert_or_assign("tick", at);
    return push;
}

Result<void> PutRecurringJob::check() const {
    if (!is_queue_name(name)) {
        return Error{Errc::invalid, "name: must be 1 to 64 of A-Z, a-z, 0-9, _, - and ."};
    }
    const auto& wanted = *settings;
    if (auto checked = check_own_queue(wanted.queue); !checked) return checked;
    if (wanted.job.size() > recurring_job_bytes_max) {
        return Error{Errc::invalid, "job: must have at most " +
                                        std::to_string(recurring_job_bytes_max) + " bytes"};
    }
    if (wanted.expires < Duration{0}) {
        return Error{Errc::invalid, "expires: must not be negative"};
    }
    if (wanted.catch_up == CatchUp::all && !wanted.overlap) {
        return Error{Errc::invalid,
                     "catch_up: all needs overlap, as equal jobs would exclude each other"};
    }
    // The longest a tick can be.
    const auto push = push_of(name, wanted, TimePoint::max(), TimePoint{});
    if (auto checked = push.check(); !checked) return checked;
    const auto schedule = JobSchedule::parse(wanted.schedule, wanted.time_zone);
    return schedule ? Result<void>{} : schedule.error();
}

Result<void> DueRecurringJobs::check() const {
    if (limit >= 1 && limit <= due_recurring_max) return {};
    return Error{Errc::invalid, "limit: must be from 1 to " + std::to_string(due_recurring_max)};
}

Result<void> RunRecurringJob::check() const {
    if (until >= next) return Error{Errc::invalid, "next: must be after until"};
    if (push == nullptr) return {};
    if (auto checked = check_own_queue(push->queue); !checked) return checked;
    if (!push->after.empty()) {
        return Error{Errc::invalid, "after: the job of a tick waits for no other"};
    }
    return push->check();
}

}  // namespace routemaster
