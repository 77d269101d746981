#include "routemaster/job_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/names.hpp"

namespace routemaster {

/// Pushes that share a trip to the store. Those whose reply is lost travel once more, without the
/// others.
struct JobQueue::Many {
    std::vector<PushJob> steps;
    std::vector<std::size_t> places;  // Where the reply of each step belongs.
    std::vector<Result<PushOutcome>> replies;

    /// Those to be sent, as a store takes them.
    [[nodiscard]] std::vector<Step> sent() const { return {steps.begin(), steps.end()}; }

    /// Takes the replies, and keeps the steps that are in doubt. False when there are none.
    bool take(std::span<Outcome> outcomes) {
        std::vector<PushJob> lost;
        std::vector<std::size_t> lost_places;
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            auto reply = reply_of<PushJob>(outcomes[i]);
            if (!reply && reply.error().code() == Errc::timed_out) {
                lost.push_back(std::move(steps[i]));
                lost_places.push_back(places[i]);
            }
            if (reply) {
                replies[places[i]] = reply->outcome;
            } else {
                replies[places[i]] = reply.error();
            }
        }
        steps = std::move(lost);
        places = std::move(lost_places);
        return !steps.empty();
    }

    static void submit(Store& store, Many many, TimePoint now, int repeats,
                       std::function<void(std::vector<Result<PushOutcome>>)> done) {
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

Result<PushOutcome> JobQueue::push(const Job& job, PushOptions options) {
    const auto now = clock_.now();
    auto push = step(job, options, now);
    if (!push) return push.error();
    const auto pushed = perform(store_, *std::move(push), now);
    if (!pushed) return pushed.error();
    return pushed->outcome;
}

void JobQueue::push(const Job& job, PushOptions options,
                    std::function<void(Result<PushOutcome>)> done) {
    const auto now = clock_.now();
    auto push = step(job, options, now);
    if (!push) return done(push.error());
    submit(store_, *std::move(push), now, [done = std::move(done)](Result<Pushed> pushed) {
        if (!pushed) return done(pushed.error());
        done(pushed->outcome);
    });
}

std::vector<Result<PushOutcome>> JobQueue::push_many(std::span<const Job> jobs,
                                                     PushOptions options) {
    const auto now = clock_.now();
    auto all = many(jobs, options, now);
    for (int repeats = repeats_max; repeats >= 0; --repeats) {
        auto sent = all.sent();
        auto outcomes = perform_all(store_, sent, now);
        if (!all.take(outcomes)) break;
    }
    return std::move(all.replies);
}

void JobQueue::push_many(std::span<const Job> jobs, PushOptions options,
                         std::function<void(std::vector<Result<PushOutcome>>)> done) {
    const auto now = clock_.now();
    Many::submit(store_, many(jobs, options, now), now, repeats_max, std::move(done));
}

Result<QueueStatus> JobQueue::status() const {
    if (auto checked = check_name(); !checked) return checked.error();
    return perform(store_, CountJobs{name_}, clock_.now());
}

void JobQueue::status(std::function<void(Result<QueueStatus>)> done) const {
    if (auto checked = check_name(); !checked) return done(checked.error());
    submit(store_, CountJobs{name_}, clock_.now(), std::move(done));
}

Result<void> JobQueue::check_name() const {
    if (name_ != delivery_queue) return {};
    return Error{Errc::invalid, "queue: " + name_ + " is the bus's own, for its deliveries"};
}

Result<PushJob> JobQueue::step(const Job& job, const PushOptions& options, TimePoint now) const {
    if (auto checked = check_name(); !checked) return checked.error();
    if (job.name.empty()) return Error{Errc::invalid, "name: of a job must not be empty"};
    const auto due = options.run_at.value_or(saturating_add(now, options.delay));
    return PushJob{name_, encode_job(job), due};
}

JobQueue::Many JobQueue::many(std::span<const Job> jobs, const PushOptions& options,
                              TimePoint now) const {
    Many all;
    all.replies.reserve(jobs.size());
    for (const auto& job : jobs) {
        auto push = step(job, options, now);
        if (push) {
            all.places.push_back(all.replies.size());
            all.steps.push_back(*std::move(push));
            all.replies.emplace_back(PushOutcome::pushed);
        } else {
            all.replies.emplace_back(push.error());
        }
    }
    return all;
}

}  // namespace routemaster
