#include "routemaster/job_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/codec/job_check.hpp"
#include "core/codec/push_fingerprint.hpp"
#include "core/codec/push_place.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Pushes that are submitted together. Only the pushes whose reply was lost are submitted again.
struct JobQueue::Many {
    std::vector<PushJob> steps;
    std::vector<std::size_t> places;
    std::vector<Result<Pushed>> replies;

    void add(Result<PushJob> push) {
        if (!push) return static_cast<void>(replies.emplace_back(push.error()));
        places.push_back(replies.size());
        steps.push_back(*std::move(push));
        replies.emplace_back(Pushed{});
    }

    [[nodiscard]] std::vector<Step> sent() const { return {steps.begin(), steps.end()}; }

    /// Stores the replies and retains only the steps in doubt for a repetition. Returns whether any
    /// step is in doubt.
    bool take(std::span<Outcome> outcomes) {
        std::vector<PushJob> lost;
        std::vector<std::size_t> lost_places;
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            auto reply = reply_of<PushJob>(outcomes[i]);
            if (!reply && reply.error().code() == Errc::timed_out) {
                lost.push_back(std::move(steps[i]));
                lost_places.push_back(places[i]);
            }
            auto& kept = replies[places[i]];
            // A push in doubt stays in doubt when its repetition fails, because the first attempt
            // may have succeeded.
            if (reply || kept) kept = std::move(reply);
        }
        steps = std::move(lost);
        places = std::move(lost_places);
        return !steps.empty();
    }

    static void submit(Store& store, Many many, TimePoint now, int repeats,
                       std::function<void(std::vector<Result<Pushed>>)> done) {
        auto sent = many.sent();
        store.submit(sent, now,
                     [&store, many = std::move(many), now, repeats,
                      done = std::move(done)](std::span<Outcome> outcomes) mutable {
                         if (many.take(outcomes) && repeats > 0) {
                             submit(store, std::move(many), now, repeats - 1, std::move(done));
                         } else {
                             done(std::move(many.replies));
                         }
                     });
    }
};

JobQueue::JobQueue(Store& store, std::string name, const Clock& clock)
    : store_{store}, name_{std::move(name)}, clock_{clock} {}

template <class S>
Result<typename S::Reply> JobQueue::ask(S step) const {
    if (auto checked = check_name(); !checked) return checked.error();
    return perform(store_, std::move(step), clock_.now());
}

template <class S, class Done>
void JobQueue::ask(S step, Done done) const {
    if (auto checked = check_name(); !checked) return done(checked.error());
    submit(store_, std::move(step), clock_.now(), std::move(done));
}

// --- Pushing ------------------------------------------------------------------------------------

Result<Pushed> JobQueue::push(const Job& job, PushOptions options) {
    const auto now = clock_.now();
    auto push = step(job, options, now);
    if (!push) return push.error();
    return perform(store_, *std::move(push), now);
}

void JobQueue::push(const Job& job, PushOptions options, std::function<void(Result<Pushed>)> done) {
    const auto now = clock_.now();
    auto push = step(job, options, now);
    if (!push) return done(push.error());
    submit(store_, *std::move(push), now, std::move(done));
}

std::vector<Result<Pushed>> JobQueue::push_all(Many all, TimePoint now) const {
    for (int repeats = repeats_max; repeats >= 0; --repeats) {
        auto sent = all.sent();
        auto outcomes = perform_all(store_, sent, now);
        if (!all.take(outcomes)) break;
    }
    return std::move(all.replies);
}

std::vector<Result<Pushed>> JobQueue::push_many(std::span<const Job> jobs, PushOptions options) {
    const auto now = clock_.now();
    return push_all(many(jobs, options, now), now);
}

void JobQueue::push_many(std::span<const Job> jobs, PushOptions options,
                         std::function<void(std::vector<Result<Pushed>>)> done) {
    const auto now = clock_.now();
    Many::submit(store_, many(jobs, options, now), now, repeats_max, std::move(done));
}

std::vector<Result<Pushed>> JobQueue::push_each(std::span<const JobPush> pushes) {
    const auto now = clock_.now();
    return push_all(many(pushes, now), now);
}

void JobQueue::push_each(std::span<const JobPush> pushes,
                         std::function<void(std::vector<Result<Pushed>>)> done) {
    const auto now = clock_.now();
    Many::submit(store_, many(pushes, now), now, repeats_max, std::move(done));
}

Result<void> JobQueue::check(const Job& job, const PushOptions& options) const {
    const auto push = step(job, options, clock_.now());
    return push ? push->check() : push.error();
}

// --- Finding ------------------------------------------------------------------------------------

Result<QueueStatus> JobQueue::status() const { return ask(CountJobs{name_}); }

void JobQueue::status(std::function<void(Result<QueueStatus>)> done) const {
    ask(CountJobs{name_}, std::move(done));
}

Result<std::optional<JobStatus>> JobQueue::find(JobId id) const { return ask(FindJob{name_, id}); }

void JobQueue::find(JobId id, std::function<void(Result<std::optional<JobStatus>>)> done) const {
    ask(FindJob{name_, id}, std::move(done));
}

Result<std::optional<JobExplanation>> JobQueue::explain(JobId id) const {
    return ask(ExplainJob{name_, id});
}

void JobQueue::explain(JobId id,
                       std::function<void(Result<std::optional<JobExplanation>>)> done) const {
    ask(ExplainJob{name_, id}, std::move(done));
}

namespace {

ListJobs listing(const std::string& queue, JobFilter filter, JobId after, std::uint32_t limit) {
    return {queue, filter.state, after, limit, std::move(filter.name), std::move(filter.group)};
}

}  // namespace

Result<JobPage> JobQueue::list(JobFilter filter, JobId after, std::uint32_t limit) const {
    return ask(listing(name_, std::move(filter), after, limit));
}

void JobQueue::list(JobFilter filter, JobId after, std::uint32_t limit,
                    std::function<void(Result<JobPage>)> done) const {
    ask(listing(name_, std::move(filter), after, limit), std::move(done));
}

// --- Acting -------------------------------------------------------------------------------------

namespace {

Result<std::uint64_t> number(const Result<Count>& count) {
    return count ? Result<std::uint64_t>{count->value} : Result<std::uint64_t>{count.error()};
}

}  // namespace

Result<std::uint64_t> JobQueue::kick(JobId id) {
    return number(ask(KickJobs{.queue = name_, .id = id}));
}

void JobQueue::kick(JobId id, std::function<void(Result<std::uint64_t>)> done) {
    ask(KickJobs{.queue = name_, .id = id},
        [done = std::move(done)](const Result<Count>& kicked) { done(number(kicked)); });
}

Result<std::uint64_t> JobQueue::kick_all(std::uint32_t limit) {
    return number(ask(KickJobs{.queue = name_, .limit = limit}));
}

void JobQueue::kick_all(std::uint32_t limit, std::function<void(Result<std::uint64_t>)> done) {
    ask(KickJobs{.queue = name_, .limit = limit},
        [done = std::move(done)](const Result<Count>& kicked) { done(number(kicked)); });
}

Result<Cancellation> JobQueue::cancel(JobId id) { return ask(CancelJob{name_, id}); }

void JobQueue::cancel(JobId id, std::function<void(Result<Cancellation>)> done) {
    ask(CancelJob{name_, id}, std::move(done));
}

Result<Deletion> JobQueue::remove(JobId id) { return ask(DeleteJob{name_, id}); }

void JobQueue::remove(JobId id, std::function<void(Result<Deletion>)> done) {
    ask(DeleteJob{name_, id}, std::move(done));
}

Result<void> JobQueue::pause() { return without_value(ask(PauseQueue{name_, true})); }

void JobQueue::pause(std::function<void(Result<void>)> done) {
    ask(PauseQueue{name_, true},
        [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

Result<void> JobQueue::resume() { return without_value(ask(PauseQueue{name_, false})); }

void JobQueue::resume(std::function<void(Result<void>)> done) {
    ask(PauseQueue{name_, false},
        [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

Result<void> JobQueue::limit_rate(const RateLimits& limits) {
    return without_value(ask(LimitQueue{name_, limits}));
}

void JobQueue::limit_rate(const RateLimits& limits, std::function<void(Result<void>)> done) {
    ask(LimitQueue{name_, limits},
        [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

// --- Steps --------------------------------------------------------------------------------------

namespace {

Result<void> check_without_key(const Unique& unique) {
    const Unique usual;
    const auto is_for_keys = [](const char* field) {
        return Error{Errc::invalid,
                     std::string{field} + ": is allowed only with By::key; see Unique::by_key"};
    };
    if (unique.key != usual.key) return is_for_keys("unique.key");
    if (unique.scope != usual.scope) return is_for_keys("unique.scope");
    if (unique.time != usual.time) return is_for_keys("unique.time");
    if (unique.on_duplicate != usual.on_duplicate) return is_for_keys("unique.on_duplicate");
    return {};
}

Result<void> check_unique(const Unique& unique) {
    if (unique.by != Unique::By::key) return check_without_key(unique);
    if (unique.key.empty()) return Error{Errc::invalid, "unique.key: must not be empty"};
    if (unique.key.size() > job_key_max) {
        return Error{Errc::invalid,
                     "unique.key: must have at most " + std::to_string(job_key_max) + " bytes"};
    }
    if (unique.scope == KeyScope::for_time && unique.time <= Duration{0}) {
        return Error{Errc::invalid, "unique.time: must be positive"};
    }
    if (unique.scope != KeyScope::for_time && unique.time != Duration{0}) {
        return Error{Errc::invalid, "unique.time: is allowed only with the scope for_time"};
    }
    return {};
}

Result<void> check_limits(const PushOptions& options) {
    if (options.expires < Duration{0}) {
        return Error{Errc::invalid, "expires: must not be negative"};
    }
    if (options.run_at && !is_due_time(*options.run_at)) {
        return Error{Errc::invalid,
                     "run_at: must not be before 1970, and must be less than 2^53 ms"};
    }
    if (options.run_at && options.delay != Duration{0}) {
        return Error{Errc::invalid, "delay: cannot be combined with run_at"};
    }
    if (options.idempotency_key.empty() && options.idempotency_time != idempotency_time_default) {
        return Error{Errc::invalid, "idempotency_time: is allowed only with an idempotency_key"};
    }
    if (!options.idempotency_key.empty() && options.idempotency_time <= Duration{0}) {
        return Error{Errc::invalid, "idempotency_time: must be positive"};
    }
    if (options.bytes_max <= job_bytes_limit) return {};
    return Error{Errc::invalid, "bytes_max: must be at most " + std::to_string(job_bytes_limit)};
}

std::string drawn_text() { return std::string{Uid{entropy(), entropy()}.text()}; }

JobKey key_of(const Unique& unique, TimePoint now) {
    JobKey key{.text = unique.key, .scope = unique.scope};
    if (unique.scope == KeyScope::for_time) key.until = saturating_add(now, unique.time);
    return key;
}

}  // namespace

Result<void> JobQueue::check_name() const { return check_not_deliveries("queue", name_); }

Result<PushJob> JobQueue::step(const Job& job, const PushOptions& options, TimePoint now) const {
    return step_into(name_, job, options, now);
}

Result<PushJob> JobQueue::step_into(const std::string& queue, const Job& job,
                                    const PushOptions& options, TimePoint now) {
    if (auto checked = check_not_deliveries("queue", queue); !checked) return checked.error();
    if (auto checked = detail::check_job(job); !checked) return checked.error();
    if (auto checked = check_unique(options.unique); !checked) return checked.error();
    if (auto checked = check_limits(options); !checked) return checked.error();
    const auto due = options.run_at.value_or(due_after(options.delay, now));
    JobOptions lasting{.attempts_max = options.attempts_max,
                       .priority = options.priority,
                       .timeout = options.timeout};
    lasting.metadata = options.metadata;
    lasting.group = options.group;
    lasting.concurrency = options.concurrency;
    lasting.batch = options.batch;
    if (options.expires != Duration{0}) lasting.expires_at = saturating_add(due, options.expires);
    PushJob push{queue, encode_job(job), due, std::move(lasting)};
    push.after = options.after;
    if (push.job.size() > options.bytes_max) {
        return Error{Errc::invalid,
                     "job: must have at most " + std::to_string(options.bytes_max) + " bytes"};
    }
    switch (options.unique.by) {
        case Unique::By::job: break;
        case Unique::By::key:
            push.options.key = key_of(options.unique, now);
            push.on_duplicate = options.unique.on_duplicate;
            break;
        case Unique::By::nothing: push.options.key.text = drawn_text(); break;
    }
    if (!options.idempotency_key.empty()) {
        push.idempotency_key = {options.idempotency_key,
                                detail::push_fingerprint(push.job, options),
                                options.idempotency_time};
    } else if (options.unique.by != Unique::By::job) {
        // The library repeats the push when its reply is lost. The job may be completed by then.
        // Without an idempotency key, the store could therefore not recognise the repetition.
        push.idempotency_key.text = drawn_text();
    }
    return push;
}

JobQueue::Many JobQueue::many(std::span<const Job> jobs, const PushOptions& options,
                              TimePoint now) const {
    Many all;
    all.replies.reserve(jobs.size());
    auto own = options;
    for (const auto& job : jobs) {
        own.idempotency_key = detail::key_at(options.idempotency_key, all.replies.size());
        all.add(step(job, own, now));
    }
    return all;
}

JobQueue::Many JobQueue::many(std::span<const JobPush> pushes, TimePoint now) const {
    Many all;
    all.replies.reserve(pushes.size());
    std::set<std::string_view> keys;
    for (const auto& [job, options] : pushes) {
        const auto& key = options.idempotency_key;
        if (key.empty() || keys.insert(key).second) {
            all.add(step(job, options, now));
        } else {
            all.add(Error{Errc::invalid,
                          "idempotency_key: an earlier job of the same call has this key"});
        }
    }
    return all;
}

}  // namespace routemaster
