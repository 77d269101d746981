#include "invariant_checker.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "job_worker.hpp"
#include "testing/conformance/text.hpp"

namespace routemaster::simulation {
namespace {

constexpr std::uint32_t all_of_them = 1'000'000;

constexpr std::array counted_queues{delivery_queue, job_queue, tick_queue, batched_queue,
                                    callback_queue};

void must_equal(SimulationContext& context, std::uint64_t gauge, std::uint64_t counted,
                const std::string& what) {
    if (gauge == counted) return;
    context.fail("a gauge is " + std::to_string(gauge) + ", but the store has " +
                 std::to_string(counted) + ": " + what);
}

}  // namespace

Inventory InvariantChecker::inventory(TimePoint now) {
    Inventory all{.topics = store_.ask(ListTopics{}, now),
                  .subscribers = store_.ask(ListSubscribers{}, now),
                  .batches = {},
                  .dead = {},
                  .queues = {},
                  .limits = {},
                  .timers = timers(now),
                  .recurring = store_.ask(ListRecurringJobs{}, now),
                  .job_batches = job_batches(now),
                  .counters = store_.ask(ListCounters{}, now),
                  .use = store_.ask(MeasureUse{}, now)};
    for (auto& subscriber : all.subscribers) subscriber.last_attempted_at.reset();
    for (const auto& token : tokens_) {
        auto& batches = all.batches[token];
        for (auto& batch : store_.ask(ListBatches{token, all_of_them}, now)) {
            batches.push_back(std::move(batch.status));
        }
        for (auto& batch : batches) batch.attempts = 0;
        all.dead[token] = dead(token);
    }
    for (const char* queue : counted_queues) {
        auto& status = all.queues[queue];
        status = store_.ask(CountJobs{queue}, now);
        status.ready += std::exchange(status.pending, 0);
    }
    for (const auto& queue : queues(now)) {
        if (queue.limits != RateLimits{}) all.limits[queue.name] = queue.limits;
    }
    return all;
}

std::vector<ListedQueue> InvariantChecker::queues(TimePoint now) {
    return store_.ask(ListQueues{}, now);
}

std::vector<JobBatch> InvariantChecker::job_batches(TimePoint now) {
    std::vector<JobBatch> all;
    for (const bool ended : {false, true}) {
        ListJobBatches step{.ended = ended};
        do {
            auto page = store_.ask(step, now);
            std::move(page.batches.begin(), page.batches.end(), std::back_inserter(all));
            step.after = page.next;
        } while (step.after != 0);
    }
    return all;
}

std::map<JobBatchId, ListedBatchJobs> InvariantChecker::batched_jobs() {
    using State = JobStatus::State;
    std::map<JobBatchId, ListedBatchJobs> all;
    for (const auto state : {State::scheduled, State::ready, State::pending, State::buried}) {
        ListJobs step{.queue = batched_queue, .state = state};
        do {
            const auto page = store_.ask(step, context_.now());
            for (const auto& job : page.jobs) {
                auto& jobs = all[job.options.batch];
                ++(state == State::buried ? jobs.buried : jobs.pending);
            }
            step.after = page.next;
        } while (step.after != 0);
    }
    return all;
}

std::vector<TimerStatus> InvariantChecker::timers(TimePoint now) {
    std::vector<TimerStatus> all;
    for (const auto state : {TimerState::pending, TimerState::fired, TimerState::dead}) {
        auto some =
            store_.ask(ListTimers{.space = timer_space, .state = state, .limit = 1'000}, now);
        std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
}

bool InvariantChecker::unchanged(Inventory before, TimePoint at) {
    auto after = inventory(at);
    // Until a restart, a due job stays READY even if the clock is set back. A restart then makes it
    // SCHEDULED again.
    if (context_.clock_was_set()) {
        for (auto* all : {&before, &after}) {
            for (auto& [queue, status] : all->queues) {
                status.ready += std::exchange(status.scheduled, 0);
            }
        }
    }
    return before == after;
}

void InvariantChecker::recount() {
    const auto all = inventory(context_.now());
    for (const auto& token : tokens_) recount_batches(token, all);
    recount_jobs(all);
    recount_counters(all);
    oracle_.timers().compare(all.timers);
    oracle_.recurring().compare(all.recurring);
    oracle_.job_batches().compare(all.job_batches, batched_jobs());
    const auto limits = all.limits.find(job_queue);
    oracle_.rates().compare(limits == all.limits.end() ? RateLimits{} : limits->second);
}

void InvariantChecker::recount_batches(const std::string& token, const Inventory& all) {
    const auto& batches = all.batches.at(token);
    std::uint64_t events = 0;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        events += batches[i].events;
        // Only batches that were redelivered may be behind the CURRENT batch.
        const bool overtaken =
            batches[i].current && std::any_of(batches.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                              batches.end(), [this](const BatchStatus& behind) {
                                                  return !oracle_.may_have_died(behind.uid);
                                              });
        if (overtaken) {
            context_.fail("subscriber " + token + " has a CURRENT batch that is not the last: " +
                          std::string{batches[i].uid.text()});
        }
    }
    const auto status =
        std::find_if(all.subscribers.begin(), all.subscribers.end(),
                     [&](const SubscriberStatus& one) { return one.subscription.token == token; });
    if (status != all.subscribers.end()) {
        must_equal(context_, status->events_queued, events, "queued events of " + token);
        must_equal(context_, status->batches_queued, batches.size(), "queued batches of " + token);
        must_equal(context_, status->batches_dead, all.dead.at(token).size(),
                   "DEAD batches of " + token);
    }
    std::uint64_t dead = 0;
    for (const auto& batch : all.dead.at(token)) dead += batch.events;
    const auto died = sum(all.counters, "events.dead", token) -
                      sum(all.counters, "events.redelivered", token) -
                      sum(all.counters, "events.dead_dropped", token);
    must_equal(context_, static_cast<std::uint64_t>(died), dead,
               "events of DEAD batches of " + token);
    const auto counted =
        sum(all.counters, "events.added", token) - sum(all.counters, "events.removed", token);
    must_equal(context_, static_cast<std::uint64_t>(counted), events,
               "events.added minus events.removed of " + token);
}

void InvariantChecker::recount_jobs(const Inventory& all) {
    std::uint64_t batches = 0;
    for (const auto& [token, queued] : all.batches) batches += queued.size();
    const auto& deliveries = all.queues.at(delivery_queue);
    must_equal(context_, deliveries.scheduled + deliveries.ready, batches, "delivery jobs");
    const auto& status = all.queues.at(job_queue);
    const auto jobs = status.scheduled + status.ready;
    must_equal(context_, status.scheduled, listed(JobStatus::State::scheduled), "SCHEDULED jobs");
    must_equal(context_, status.ready,
               listed(JobStatus::State::ready) + listed(JobStatus::State::pending),
               "READY and PENDING jobs");
    must_equal(context_, status.buried, listed(JobStatus::State::buried), "BURIED jobs");
    const auto expected = oracle_.jobs();
    if (jobs < expected.certain || jobs > expected.possible) {
        context_.fail("the store has " + std::to_string(jobs) + " jobs, expected " +
                      std::to_string(expected.certain) + " to " +
                      std::to_string(expected.possible));
    }
}

std::uint64_t InvariantChecker::listed(JobStatus::State state) {
    ListJobs step{.queue = job_queue, .state = state, .limit = 7};
    std::uint64_t jobs = 0;
    do {
        const auto page = store_.ask(step, context_.now());
        jobs += page.jobs.size();
        step.after = page.next;
    } while (step.after != 0);
    return jobs;
}

void InvariantChecker::recount_counters(const Inventory& all) {
    std::uint64_t published = 0;
    for (const auto& topic : all.topics) published += topic.events;
    const auto counted = sum(all.counters, "events.published", "");
    must_equal(context_, static_cast<std::uint64_t>(counted), published, "published events");
    const auto dropped = static_cast<std::uint64_t>(sum(all.counters, "events.autodropped", ""));
    const bool right =
        oracle_.drops_in_doubt() ? dropped >= oracle_.dropped() : dropped == oracle_.dropped();
    if (!right) {
        context_.fail(std::to_string(dropped) + " events are counted as dropped, expected " +
                      std::to_string(oracle_.dropped()) + " were");
    }
}

std::int64_t InvariantChecker::sum(const std::vector<Counter>& counters, const std::string& name,
                                   const std::string& queue) {
    std::int64_t sum = 0;
    for (const auto& [key, value] : counters) {
        if (key.name != name) continue;
        const bool wanted =
            queue.empty() || std::any_of(key.tags.begin(), key.tags.end(),
                                         [&](const auto& tag) { return tag.second == queue; });
        if (wanted) sum += value;
    }
    return sum;
}

std::map<std::string, std::int64_t> InvariantChecker::dropped() {
    const auto counters = store_.ask(ListCounters{}, context_.now());
    std::map<std::string, std::int64_t> all;
    for (const auto& token : tokens_) {
        all[token] = sum(counters, "events.autodropped", token) +
                     sum(counters, "events.dead_dropped", token);
    }
    return all;
}

std::vector<DeadBatchStatus> InvariantChecker::dead(const std::string& token) {
    return store_.ask(ListDeadBatches{token, all_of_them}, context_.now());
}

std::uint64_t InvariantChecker::dead_timers() {
    return store_.ask(CountTimers{timer_space}, context_.now()).dead;
}

bool InvariantChecker::ticks_are_over() {
    const auto recurring = store_.ask(ListRecurringJobs{}, context_.now());
    const auto counts = store_.ask(CountTimers{tick_space}, context_.now());
    return counts.pending == 0 && std::all_of(recurring.begin(), recurring.end(),
                                              [](const RecurringJob& job) { return job.paused; });
}

bool InvariantChecker::drained() {
    for (const auto& queue : queues(context_.now())) {
        if (queue.name == job_queue) oracle_.rates().must_move(queue.due_since);
    }
    for (const char* queue : counted_queues) {
        if (store_.ask(CountJobs{queue}, context_.now()) != QueueStatus{}) return false;
    }
    if (!ticks_are_over()) return false;
    auto doomed = store_.ask(CountJobs{doomed_queue}, context_.now());
    doomed.buried = 0;
    if (doomed != QueueStatus{}) return false;
    const auto counts = store_.ask(CountTimers{timer_space}, context_.now());
    return counts.pending == 0 && counts.fired == 0;
}

void InvariantChecker::send_bad_input() {
    const auto now = context_.now();
    const auto before = inventory(now);
    const Uid nobody{1, 1};
    const std::string long_name(65, 'x');
    std::vector<Step> bad;
    bad.emplace_back(PublishEvent{"No Topic", {}, "message", now, nobody});
    bad.emplace_back(PushJob{job_queue, "", now});
    bad.emplace_back(PushJob{"", "job", now});
    bad.emplace_back(PushJob{long_name, "job", now});
    bad.emplace_back(PushJob{job_queue, "job", now, {.timeout = Duration{-1}}});
    bad.emplace_back(AcquireJobs{job_queue, nobody, 0});
    bad.emplace_back(FailJob{.lease = {"aux", "job", nobody, 1}, .error = "", .run_at = now});
    bad.emplace_back(ListJobs{.queue = job_queue, .limit = 0});
    bad.emplace_back(KickJobs{.queue = delivery_queue});
    bad.emplace_back(DeleteJob{"aux", 1});
    bad.emplace_back(Subscribe{"a b", {"orders"}, {.callback = "https://a.example"}});
    bad.emplace_back(Subscribe{"somebody", {"orders", "No"}, {.callback = "https://a.example"}});
    bad.emplace_back(
        Subscribe{"somebody", {"orders"}, {.callback = "https://a.example", .max_events = 0}});
    bad.emplace_back(ListBatches{"somebody", 0});
    bad.emplace_back(PutToken{"", "name"});
    bad.emplace_back(
        Subscribe{"somebody", {"orders"}, {.callback = "https://a.example", .dead_max = 0}});
    bad.emplace_back(ListDeadBatches{"somebody", 0});
    bad.emplace_back(DropOldestBatches{0});
    for (auto& step : bad) {
        const auto name = traits_of(step).name;
        const auto outcome = store_.ask_any(std::move(step), now);
        if (!outcome && outcome.error().code() == Errc::invalid) continue;
        context_.fail("the store accepted an invalid step: " + std::string{name});
    }
    const Lease none{job_queue, "no job", nobody, 1};
    if (store_.ask(AckJob{none}, now) != Settlement::lease_lost) {
        context_.fail("the store settled a lease that it had never granted");
    }
    if (!store_.idle() || inventory(now) != before) {
        context_.fail("invalid steps changed the store");
    }
}

}  // namespace routemaster::simulation
