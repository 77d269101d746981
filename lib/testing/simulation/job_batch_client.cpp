#include "job_batch_client.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "job_batch_accounts.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::simulation {
namespace {

/// A callback that a batch pushes at its end. It is retried without limit.
JobBatchCallback callback_named(const char* name, std::int64_t number) {
    return batch_callback(callback_queue, Job{name, {number}}, {.attempts_max = 0});
}

}  // namespace

JobBatchClient::JobBatchClient(SimulationContext& context, Store& store, std::int64_t& last_batch,
                               std::int64_t& last_job)
    : context_{context},
      last_batch_{last_batch},
      last_job_{last_job},
      link_{context, store},
      batches_{link_, context.clock} {}

void JobBatchClient::act() {
    switch (context_.random.below(8)) {
        case 0: return create();
        case 1: return close();
        case 2: return remove_job();
        case 3: return kick();
        default: push();
    }
}

void JobBatchClient::finish() {
    close();
    kick();
}

void JobBatchClient::create() {
    const auto number = ++last_batch_;
    context_.note("create " + batch_name_of(number));
    batches_.create({.name = batch_name_of(number),
                     .on_success = callback_named(success_name, number),
                     .on_end = callback_named(end_name, number)},
                    [this](const Result<JobBatchCreated>& created) {
                        if (created) open_.push_back(created->id);
                    });
}

void JobBatchClient::push() {
    if (open_.empty()) return create();
    const auto batch = open_[context_.random.below(open_.size())];
    const auto now = context_.now();
    const auto number = ++last_job_;
    PushJob step{
        batched_queue,
        encode_job({batched_name, {number}}),
        now + (context_.random.below(2) == 0 ? Duration{0} : context_.up_to(Duration{1'000})),
        {.attempts_max = batched_attempts_max, .batch = batch}};
    // Prefers the latest jobs, because they are most likely to exist.
    if (!jobs_.empty() && context_.random.below(2) == 0) {
        for (auto left = 1 + context_.random.below(3); left > 0; --left) {
            const auto back = std::min<std::uint64_t>(context_.random.below(6), jobs_.size() - 1);
            step.after.push_back(jobs_[jobs_.size() - 1 - back]);
        }
    }
    context_.note("push batched job " + std::to_string(number) + " into batch " +
                  std::to_string(batch));
    submit(link_, std::move(step), now, [this](const Result<Pushed>& pushed) {
        if (pushed) jobs_.push_back(pushed->id);
    });
}

/// Closes a batch, and repeats the request until it succeeds.
void JobBatchClient::close() {
    if (open_.empty()) return;
    const auto batch = open_[context_.random.below(open_.size())];
    context_.note("close batch " + std::to_string(batch));
    batches_.close(batch, [this, batch](const Result<bool>& closed) {
        if (closed) std::erase(open_, batch);
    });
}

void JobBatchClient::remove_job() {
    if (jobs_.empty()) return;
    const auto back = std::min<std::uint64_t>(context_.random.below(10), jobs_.size() - 1);
    const auto id = jobs_[jobs_.size() - 1 - back];
    context_.note("delete job " + std::to_string(id));
    submit(link_, DeleteJob{batched_queue, id}, context_.now(), [](const Result<Deletion>&) {});
}

void JobBatchClient::kick() {
    submit(link_, KickJobs{.queue = batched_queue, .limit = 3}, context_.now(),
           [](const Result<Count>&) {});
}

}  // namespace routemaster::simulation
