#include "routemaster/store/step/recurring.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "core/codec/metadata_check.hpp"
#include "core/codec/object_fields.hpp"
#include "routemaster/detail/assert.hpp"
#include "routemaster/job_schedule.hpp"
#include "routemaster/names.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/timer_action.hpp"

namespace routemaster {
namespace {

constexpr std::size_t tick_entries = 2;

Result<void> check_length(const char* field, const std::string& text, std::size_t most) {
    if (text.size() <= most) return {};
    return Error{Errc::invalid,
                 std::string{field} + ": must have at most " + std::to_string(most) + " bytes"};
}

Result<void> check_schedule(const RecurringSettings& wanted) {
    if (auto checked = check_length("schedule", wanted.schedule, schedule_bytes_max); !checked) {
        return checked;
    }
    if (auto checked = check_length("time_zone", wanted.time_zone, time_zone_bytes_max); !checked) {
        return checked;
    }
    const auto schedule = JobSchedule::parse(wanted.schedule, wanted.time_zone);
    return schedule ? Result<void>{} : schedule.error();
}

Result<void> check_tick_push(const std::string& name, const RecurringSettings& wanted) {
    if (auto checked = check_own_queue(wanted.queue); !checked) return checked;
    if (wanted.job.size() > recurring_job_bytes_max) {
        return Error{Errc::invalid, "job: must have at most " +
                                        std::to_string(recurring_job_bytes_max) + " bytes"};
    }
    if (wanted.expires < Duration{0}) {
        return Error{Errc::invalid, "expires: must not be negative"};
    }
    // The longest push possible for a tick.
    const auto push = push_of(name, wanted, TimePoint::max(), TimePoint{});
    if (auto checked = detail::check_metadata(push.options.metadata, tick_entries); !checked) {
        return detail::headed("job", checked.error());
    }
    return push.check();
}

Result<void> check_tick_post(const std::string& name, const RecurringSettings& wanted) {
    static const RecurringSettings usual;
    const auto is_not_for_it = [](const char* field) {
        return Error{Errc::invalid, std::string{field} + ": is not allowed in a recurring timer"};
    };
    if (!wanted.queue.empty()) return is_not_for_it("queue");
    if (!wanted.job.empty()) return is_not_for_it("job");
    if (wanted.attempts_max != usual.attempts_max) return is_not_for_it("attempts_max");
    if (wanted.priority != usual.priority) return is_not_for_it("priority");
    if (wanted.timeout != usual.timeout) return is_not_for_it("timeout");
    if (wanted.expires != usual.expires) return is_not_for_it("expires");
    if (!wanted.metadata.empty()) return is_not_for_it("metadata");
    auto post = post_of(name, wanted, due_at_max);
    post.confirm_within = wanted.timer->confirm_within;
    const auto checked = post.check();
    // A client that schedules an action names no timer, so the error must not mention a timer.
    if (checked || wanted.timer->space == action_space) return checked;
    return detail::headed("timer", checked.error());
}

}  // namespace

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
    // The unique key makes the store accept the push even if an equal job exists, for example the
    // job of an earlier tick.
    if (settings.overlap) push.options.key.text = "recurring:" + name + ":" + at;
    push.options.metadata.insert_or_assign("recurring", name);
    push.options.metadata.insert_or_assign("tick", at);
    return push;
}

PostTimer post_of(const std::string& name, const RecurringSettings& settings, TimePoint tick) {
    ROUTEMASTER_ASSERT(settings.timer);
    const auto& timer = *settings.timer;
    // Names contain no colon. Ids of different recurring jobs therefore differ.
    auto id = "recurring:" + name;
    if (settings.overlap) id += ":" + std::to_string(to_milliseconds(tick));
    // Settings from an older version may have a time limit for a timer without retries.
    const auto within = timer.retries_max > 0 ? timer.confirm_within : Duration{0};
    return {.space = timer.space,
            .id = std::move(id),
            .payload = timer.payload,
            .due_at = tick,
            .retries_max = timer.retries_max,
            .confirm_within = within,
            .keep = true};
}

Result<void> PutRecurringJob::check() const {
    if (!is_queue_name(name)) {
        return Error{Errc::invalid, "name: must be " + std::string{queue_name_rule}};
    }
    const auto& wanted = *settings;
    if (wanted.catch_up > CatchUp::all) {
        return Error{Errc::invalid, "catch_up: must be skip, once or all"};
    }
    if (wanted.catch_up == CatchUp::all && !wanted.overlap) {
        return Error{Errc::invalid,
                     "catch_up: all requires overlap, because ticks would exclude each other"};
    }
    const auto checked =
        wanted.timer ? check_tick_post(name, wanted) : check_tick_push(name, wanted);
    return checked ? check_schedule(wanted) : checked;
}

Result<void> DueRecurringJobs::check() const {
    if (limit >= 1 && limit <= due_recurring_max) return {};
    return Error{Errc::invalid, "limit: must be from 1 to " + std::to_string(due_recurring_max)};
}

Result<void> RunRecurringJob::check() const {
    if (until >= next) return Error{Errc::invalid, "next: must be after until"};
    if (anew && (push != nullptr || post != nullptr)) {
        return Error{Errc::invalid, "anew: a step that settles ticks anew runs no tick"};
    }
    if (post != nullptr) {
        if (push != nullptr) {
            return Error{Errc::invalid, "post: a tick cannot push a job and post a timer"};
        }
        if (post->due_at != until) {
            return Error{Errc::invalid, "due_at: must equal until, the time of the tick"};
        }
        return post->check();
    }
    if (push == nullptr) return {};
    if (auto checked = check_own_queue(push->queue); !checked) return checked;
    if (!push->after.empty()) {
        return Error{Errc::invalid, "after: the job of a tick cannot wait for other jobs"};
    }
    return push->check();
}

}  // namespace routemaster
