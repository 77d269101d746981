#include "clients.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "doomed_jobs.hpp"
#include "job_worker.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "subscribers.hpp"

namespace routemaster::simulation {
namespace {

/// The longest pause between two actions of a client after all faults have ended. Some clients then
/// continue until all work is done.
constexpr Duration healing_pace{1'000};
constexpr Duration limits_last_max{20'000};

}  // namespace

Clients::Clients(SimulationContext& context, Store& store, Oracle& oracle,
                 const testing::WorldOptions& options)
    : context_{context},
      store_{store},
      oracle_{oracle},
      options_{options},
      pace_{std::int64_t{20} << context.random.below(6)} {}

void Clients::begin() {
    for (auto left = 1 + context_.random.below(3); left > 0; --left) begin_one();
    if (options_.recurring > 0) let_take_timers(*recurring_clients_.front());
    if (options_.rate_limits) {
        rate_client_ = std::make_unique<RateClient>(context_, store_, job_queue);
        let_limit();
    }
}

void Clients::begin_one() {
    links_.push_back(std::make_unique<Link>(context_, store_));
    let_publish(*links_.back());
    if (options_.jobs > 0) let_push(*links_.back());
    if (options_.timers > 0) {
        timer_clients_.push_back(
            std::make_unique<TimerClient>(context_, store_, options_.timers, last_timer_));
        let_act(*timer_clients_.back());
    }
    if (options_.recurring > 0) {
        recurring_clients_.push_back(
            std::make_unique<RecurringClient>(context_, store_, options_.recurring));
        let_act(*recurring_clients_.back());
    }
    if (options_.job_batches) {
        batch_clients_.push_back(
            std::make_unique<JobBatchClient>(context_, store_, last_job_batch_, last_batched_job_));
        let_act(*batch_clients_.back());
    }
}

void Clients::pause_recurring() { recurring_clients_.front()->pause_all(); }

void Clients::let_publish(Link& client) {
    context_.after(context_.up_to(pace_), [this, &client] {
        if (healing_) return;
        publish(client);
        let_publish(client);
    });
}

void Clients::let_push(Link& client) {
    context_.after(context_.up_to(2 * pace_), [this, &client] {
        if (healing_) return;
        push(client);
        let_push(client);
    });
}

void Clients::let_act(TimerClient& client) {
    context_.after(context_.up_to(pace_), [this, &client] {
        if (healing_) return;
        client.act();
        let_act(client);
    });
}

void Clients::let_act(RecurringClient& client) {
    context_.after(context_.up_to(2 * pace_), [this, &client] {
        if (healing_) return;
        client.act();
        let_act(client);
    });
}

void Clients::let_act(JobBatchClient& client) {
    context_.after(context_.up_to(healing_ ? healing_pace : pace_), [this, &client] {
        healing_ ? client.finish() : client.act();
        let_act(client);
    });
}

void Clients::let_take_timers(RecurringClient& client) {
    context_.after(context_.up_to(healing_ ? healing_pace : pace_), [this, &client] {
        client.take_timers();
        let_take_timers(client);
    });
}

void Clients::let_limit() {
    rate_client_->act();
    context_.after(context_.up_to(limits_last_max), [this] {
        if (!healing_) let_limit();
    });
}

void Clients::publish(Link& client) {
    const auto now = context_.now();
    std::vector<Step> steps;
    for (auto left = 1 + context_.random.below(3); left > 0; --left) {
        steps.emplace_back(next_publication(topics[context_.random.below(topics.size())]));
    }
    context_.note("publish " + std::to_string(steps.size()) + " events up to " +
                  std::to_string(last_event_));
    client.submit(steps, now, [](std::span<Outcome>) {});
}

PublishEvent Clients::next_publication(const std::string& topic) {
    const auto now = context_.now();
    const Event event{
        .topic = topic,
        .type = EventType::update,
        .url = "https://world.example/" + topic + "/" + std::to_string(++last_event_)};
    return {.topic = topic,
            .publisher = {},
            .message = encode_message(event, now),
            .timestamp = now - context_.up_to(Duration{100}),
            .uid = drawn_uid()};
}

Uid Clients::drawn_uid() {
    const auto high = context_.random.next();
    return {high, context_.random.next()};
}

void Clients::push(Link& client) {
    if (options_.pools && context_.random.below(40) == 0) return push_doomed(client);
    const auto number = context_.random.below(options_.jobs);
    const auto now = context_.now();
    const auto run_at =
        now + (context_.random.below(2) == 0 ? Duration{0} : context_.up_to(Duration{2'000}));
    context_.note("push job " + std::to_string(number));
    const Job job{work_name, {static_cast<std::int64_t>(number)}};
    PushJob push{job_queue, encode_job(job), run_at, {.attempts_max = 0}};
    // Half of the jobs are in a group. A group runs either one job or two jobs concurrently.
    if (const auto group = number % 12; group < 6) {
        push.options.group = "group " + std::to_string(group);
        push.options.concurrency = group < 4 ? 1 : 2;
    }
    if (context_.random.below(4) == 0) push.after = oracle_.draw_dependencies();
    Step step = std::move(push);
    client.submit({&step, 1}, now, [](std::span<Outcome>) {});
}

/// Pushes a job that kills its worker. Clients push only few, because each may kill several pools.
void Clients::push_doomed(Link& client) {
    const auto now = context_.now();
    const Job job{doomed_name, {static_cast<std::int64_t>(++last_doomed_)}};
    context_.note("push doomed job " + std::to_string(last_doomed_));
    Step step = PushJob{doomed_queue, encode_job(job), now, {.attempts_max = doomed_attempts_max}};
    client.submit({&step, 1}, now, [](std::span<Outcome>) {});
}

CompleteJob Clients::completion(const Lease& lease) {
    CompleteJob step{lease};
    if (context_.random.below(2) == 0)
        step.publications.push_back(next_publication(follow_up_topic));
    const Job job{follow_up_name, {static_cast<std::int64_t>(++last_follow_up_)}};
    const auto run_at = context_.now() + context_.up_to(Duration{500});
    step.pushes.push_back({job_queue, encode_job(job), run_at, {.attempts_max = 0}});
    return step;
}

}  // namespace routemaster::simulation
