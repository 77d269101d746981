#include "routemaster/recurring_jobs.hpp"

#include <memory>
#include <utility>

#include "core/codec/job_check.hpp"
#include "core/codec/job_name.hpp"
#include "core/codec/object_fields.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/job_schedule.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {
namespace {

RecurringSettings settings_of(std::string schedule, std::string queue, const Job& job,
                              RecurringOptions options) {
    return {.schedule = std::move(schedule),
            .time_zone = std::move(options.time_zone),
            .queue = std::move(queue),
            .job = encode_job(job),
            .catch_up = options.catch_up,
            .overlap = options.overlap,
            .attempts_max = options.attempts_max,
            .priority = options.priority,
            .timeout = options.timeout,
            .expires = options.expires,
            .metadata = std::move(options.metadata)};
}

/// Prefixes errors with `job`, because the recurring job has a name as well as the job it pushes.
Result<void> check_job_of(const Job& job) {
    const auto checked = detail::check_job(job);
    return checked ? checked : detail::headed("job", checked.error());
}

Result<void> check_encoded(const std::string& encoded) {
    const auto job = decode_job(encoded);
    if (!job) return Error{Errc::invalid, "job: must be an encoded job"};
    if (auto checked = check_job_of(*job); !checked) return checked;
    // Stores compare encoded jobs byte by byte, so each job must have the canonical encoding.
    if (encode_job(*job) == encoded) return {};
    return Error{Errc::invalid, "job: must be encoded exactly as encode_job does"};
}

Result<PutRecurringJob> put_step(std::string name, RecurringSettings settings) {
    if (!settings.timer) {
        if (auto checked = check_encoded(settings.job); !checked) return checked.error();
    }
    return PutRecurringJob{std::move(name),
                           std::make_shared<const RecurringSettings>(std::move(settings)),
                           Uid{entropy(), entropy()}};
}

/// Computes the next tick of a recurring job that was put or resumed, and that no scheduler has
/// processed since.
RecurringJob with_next_tick(RecurringJob job) {
    if (job.next_at > job.settled_until) return job;
    const auto schedule = JobSchedule::parse_stored(job.settings.schedule, job.settings.time_zone);
    if (schedule) job.next_at = schedule->next(job.settled_until);
    return job;
}

using Found = std::optional<RecurringJob>;
using Listed = std::vector<RecurringJob>;

Result<Found> shown(Result<Found> found) {
    if (found && *found) *found = with_next_tick(**std::move(found));
    return found;
}

Result<Listed> shown(Result<Listed> listed) {
    if (!listed) return listed;
    for (auto& job : *listed) job = with_next_tick(std::move(job));
    return listed;
}

Result<bool> whether(const Result<Count>& count) {
    return count ? Result<bool>{count->value == 1} : Result<bool>{count.error()};
}

/// The instant of a run triggered by hand: `now`, or 1 ms later if `now` is a whole second. Ticks
/// are whole seconds, so no tick equals this instant.
TimePoint beside_ticks(TimePoint now) {
    return to_milliseconds(now) % 1'000 == 0 ? now + Duration{1} : now;
}

PushJob triggered(const RecurringJob& job, TimePoint now) {
    auto push = push_of(job.name, job.settings, beside_ticks(now), now);
    // With a unique key, the push can be repeated when its reply is lost.
    if (job.settings.overlap) {
        push.options.key.text = Uid{entropy(), entropy()}.text();
        push.idempotency_key.text = push.options.key.text;
    }
    return push;
}

PostTimer triggered_timer(const RecurringJob& job, TimePoint now) {
    auto post = post_of(job.name, job.settings, now);
    // A unique id. Otherwise the run would replace the timer of a real tick at the same instant.
    if (job.settings.overlap) {
        post.id = "recurring:" + job.name + ":";
        post.id += Uid{entropy(), entropy()}.text();
    }
    return post;
}

using Triggered = std::optional<Pushed>;

Result<Triggered> of_push(const Result<Pushed>& pushed) {
    return pushed ? Result<Triggered>{Triggered{*pushed}} : Result<Triggered>{pushed.error()};
}

Result<Triggered> of_post(const Result<TimerPosted>& posted) {
    if (!posted) return posted.error();
    const bool kept = *posted == TimerPosted::kept;
    return Triggered{Pushed{kept ? PushOutcome::duplicate : PushOutcome::pushed, 0}};
}

}  // namespace

Result<void> RecurringJobs::put(std::string name, RecurringSettings settings) {
    auto step = put_step(std::move(name), std::move(settings));
    if (!step) return step.error();
    return without_value(perform(store_, *std::move(step), clock_.now()));
}

void RecurringJobs::put(std::string name, RecurringSettings settings,
                        std::function<void(Result<void>)> done) {
    auto step = put_step(std::move(name), std::move(settings));
    if (!step) return done(step.error());
    submit(store_, *std::move(step), clock_.now(),
           [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

Result<void> RecurringJobs::cron(std::string name, std::string expression, std::string queue,
                                 const Job& job, RecurringOptions options) {
    if (auto checked = check_job_of(job); !checked) return checked;
    return put(std::move(name),
               settings_of(std::move(expression), std::move(queue), job, std::move(options)));
}

Result<void> RecurringJobs::every(std::string name, Duration interval, std::string queue,
                                  const Job& job, RecurringOptions options) {
    if (auto checked = check_job_of(job); !checked) return checked;
    return put(std::move(name), settings_of(JobSchedule::every(interval), std::move(queue), job,
                                            std::move(options)));
}

Result<Found> RecurringJobs::find(std::string name) const {
    return shown(perform(store_, FindRecurringJob{std::move(name)}, clock_.now()));
}

void RecurringJobs::find(std::string name, std::function<void(Result<Found>)> done) const {
    submit(store_, FindRecurringJob{std::move(name)}, clock_.now(),
           [done = std::move(done)](Result<Found> found) { done(shown(std::move(found))); });
}

Result<Listed> RecurringJobs::list(Page page) const {
    return shown(perform(store_, ListRecurringJobs{std::move(page)}, clock_.now()));
}

void RecurringJobs::list(Page page, std::function<void(Result<Listed>)> done) const {
    submit(store_, ListRecurringJobs{std::move(page)}, clock_.now(),
           [done = std::move(done)](Result<Listed> listed) { done(shown(std::move(listed))); });
}

Result<bool> RecurringJobs::pause(std::string name) {
    return whether(perform(store_, PauseRecurringJob{std::move(name), true}, clock_.now()));
}

void RecurringJobs::pause(std::string name, std::function<void(Result<bool>)> done) {
    submit(store_, PauseRecurringJob{std::move(name), true}, clock_.now(),
           [done = std::move(done)](const Result<Count>& count) { done(whether(count)); });
}

Result<bool> RecurringJobs::resume(std::string name) {
    return whether(perform(store_, PauseRecurringJob{std::move(name), false}, clock_.now()));
}

void RecurringJobs::resume(std::string name, std::function<void(Result<bool>)> done) {
    submit(store_, PauseRecurringJob{std::move(name), false}, clock_.now(),
           [done = std::move(done)](const Result<Count>& count) { done(whether(count)); });
}

Result<std::optional<Pushed>> RecurringJobs::trigger(std::string name) {
    const auto now = clock_.now();
    const auto found = perform(store_, FindRecurringJob{std::move(name)}, now);
    if (!found) return found.error();
    if (!*found) return Triggered{};
    const auto& job = **found;
    if (job.settings.timer) return of_post(perform(store_, triggered_timer(job, now), now));
    return of_push(perform(store_, triggered(job, now), now));
}

void RecurringJobs::trigger(std::string name,
                            std::function<void(Result<std::optional<Pushed>>)> done) {
    const auto now = clock_.now();
    submit(store_, FindRecurringJob{std::move(name)}, now,
           [&store = store_, now, done = std::move(done)](const Result<Found>& found) {
               if (!found) return done(found.error());
               if (!*found) return done(Triggered{});
               const auto& job = **found;
               if (job.settings.timer) {
                   return submit(
                       store, triggered_timer(job, now), now,
                       [done](const Result<TimerPosted>& posted) { done(of_post(posted)); });
               }
               submit(store, triggered(job, now), now,
                      [done](const Result<Pushed>& pushed) { done(of_push(pushed)); });
           });
}

Result<Removal> RecurringJobs::remove(std::string name) {
    return perform(store_, RemoveRecurringJob{std::move(name)}, clock_.now());
}

void RecurringJobs::remove(std::string name, std::function<void(Result<Removal>)> done) {
    submit(store_, RemoveRecurringJob{std::move(name)}, clock_.now(), std::move(done));
}

// --- Explanations --------------------------------------------------------------------------------

namespace {

using ExplainedRecurring = std::optional<RecurringExplanation>;

FindQueueWorkers workers_for_tick(const RecurringSettings& settings) {
    return {settings.queue, detail::name_of_job(settings.job)};
}

}  // namespace

Result<ExplainedRecurring> RecurringJobs::explain(std::string name) const {
    const auto now = clock_.now();
    auto found = find(std::move(name));
    if (!found) return found.error();
    if (!*found) return ExplainedRecurring{};
    RecurringExplanation all{.recurring = **std::move(found), .now = now};
    const auto schedulers = perform(store_, FindQueueWorkers{recurring_watch}, now);
    if (!schedulers) return schedulers.error();
    all.schedulers = *schedulers;
    if (all.recurring.settings.timer) return ExplainedRecurring{std::move(all)};
    const auto workers = perform(store_, workers_for_tick(all.recurring.settings), now);
    if (!workers) return workers.error();
    all.workers = *workers;
    return ExplainedRecurring{std::move(all)};
}

void RecurringJobs::explain(std::string name,
                            std::function<void(Result<ExplainedRecurring>)> done) const {
    const auto now = clock_.now();
    auto& store = store_;
    auto with_workers = [&store, now, done](RecurringExplanation all) {
        const auto& settings = all.recurring.settings;
        if (settings.timer) return done(ExplainedRecurring{std::move(all)});
        submit(store, workers_for_tick(settings), now,
               [all, done](const Result<QueueWorkers>& workers) mutable {
                   if (!workers) return done(workers.error());
                   all.workers = *workers;
                   done(ExplainedRecurring{std::move(all)});
               });
    };
    find(std::move(name),
         [&store, now, done, with_workers](const Result<std::optional<RecurringJob>>& found) {
             if (!found) return done(found.error());
             if (!*found) return done(ExplainedRecurring{});
             RecurringExplanation all{.recurring = **found, .now = now};
             submit(store, FindQueueWorkers{recurring_watch}, now,
                    [all, done, with_workers](const Result<QueueWorkers>& schedulers) mutable {
                        if (!schedulers) return done(schedulers.error());
                        all.schedulers = *schedulers;
                        with_workers(std::move(all));
                    });
         });
}

}  // namespace routemaster
