#include "routemaster/store/step/completion.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/state/machine.hpp"
#include "core/state/steps/apply_one_of.hpp"
#include "core/store/store_errors.hpp"
#include "core/timers/state/steps/counted_namespaces.hpp"

namespace routemaster::detail {

/// For each push without a key, the equal job in its queue, if any. Jobs are looked up before any
/// change, because reading from a journal may fail.
class EqualJobs {
public:
    /// `done`, if not null, is about to be completed. A push of an equal job is then allowed.
    EqualJobs(JobTable& jobs, const std::vector<PushJob>& pushes, const JobState* done) {
        found_.reserve(pushes.size());
        for (const auto& push : pushes) {
            const auto* queue = jobs.find_queue(push.queue);
            const bool keyed = !push.options.key.text.empty();
            const auto* found = keyed || queue == nullptr ? nullptr : jobs.find(*queue, push.job);
            found_.push_back(found == done ? nullptr : found);
        }
    }

    /// The id of the job that excludes a push, because it is equal: an existing job, or the job of
    /// an earlier push in the list.
    [[nodiscard]] std::optional<JobId> of(const PushJob& push, std::size_t place) const {
        if (const auto* found = found_[place]) return found->queue.has_ids ? found->order : 0;
        const auto earlier = pushed_.find({push.queue, push.job});
        if (earlier == pushed_.end()) return std::nullopt;
        return earlier->second;
    }

    /// Records a pushed job. `push` must outlive the object.
    void add(const PushJob& push, JobId id) { pushed_[{push.queue, push.job}] = id; }

private:
    std::vector<const JobState*> found_;
    std::map<std::pair<std::string_view, std::string_view>, JobId> pushed_;
};

template <>
Result<CompleteJob::Reply> Machine::apply(CompleteJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Completed{Settlement::lease_lost, {}};
    if (delivered_by(*job) != nullptr) {
        return invalid("lease: a delivery is ended by SettleDelivery");
    }
    if (auto may = may_publish_all(step.publications); !may) return may.error();
    if (auto may = may_push_all(step.pushes); !may) return may.error();
    if (auto may = may_post_all(step.timers); !may) return may.error();
    EqualJobs equal{jobs_, step.pushes, job};

    jobs_.complete(*job, now_);
    Completed completed{.pushed = push_all(step.pushes, equal)};
    publish_all(step.publications);
    completed.posted = post_all(step.timers);
    return completed;
}

template <>
Result<CompleteTimer::Reply> Machine::apply(CompleteTimer& step) {
    ConfirmTimer confirmation{step.space, step.id, step.retries, step.firing};
    if (timers_.meant(confirmation) == nullptr) {
        return CompletedTimer{.confirmation = TimerConfirmed::unknown};
    }
    if (auto may = may_publish_all(step.publications); !may) return may.error();
    if (auto may = may_push_all(step.pushes); !may) return may.error();
    if (auto may = may_post_all(step.timers); !may) return may.error();
    EqualJobs equal{jobs_, step.pushes, nullptr};

    timers_.confirm(confirmation);
    CompletedTimer completed{.pushed = push_all(step.pushes, equal)};
    publish_all(step.publications);
    completed.posted = post_all(step.timers);
    return completed;
}

Result<void> Machine::may_push_all(const std::vector<PushJob>& pushes) {
    std::set<std::string_view> fresh;
    for (std::size_t i = 0; i < pushes.size(); ++i) {
        const auto& queue = pushes[i].queue;
        auto may = jobs_.batches().may_join(pushes[i].options.batch);
        if (!may) return at_place("pushes", i, may.error());
        const auto* present = jobs_.find_queue(queue);
        if (present != nullptr && (present->kept() || !present->jobs.empty())) continue;
        fresh.insert(queue);
        if (jobs_.lasting_queues() + fresh.size() <= limits_.queues_max) continue;
        return at_place("pushes", i, too_many_queues());
    }
    return {};
}

Result<void> Machine::may_post_all(const std::vector<PostTimer>& timers) const {
    std::set<std::string_view> fresh;
    for (std::size_t i = 0; i < timers.size(); ++i) {
        const auto& space = timers[i].space;
        if (!adds_namespace(timers_, space)) continue;
        fresh.insert(space);
        if (counted_namespaces(timers_) + fresh.size() <= limits_.timer_namespaces_max) continue;
        return at_place("timers", i, too_many_timer_namespaces());
    }
    return {};
}

std::vector<Pushed> Machine::push_all(const std::vector<PushJob>& pushes, EqualJobs& equal) {
    std::vector<Pushed> pushed;
    pushed.reserve(pushes.size());
    for (std::size_t i = 0; i < pushes.size(); ++i) {
        const auto& push = pushes[i];
        if (!push.options.key.text.empty()) {
            // `value()` cannot throw: the push waits for no jobs, and its batch and queue were
            // checked.
            pushed.push_back(push_with_key(push).value());
        } else if (const auto id = equal.of(push, i)) {
            pushed.push_back({PushOutcome::duplicate, *id});
        } else {
            pushed.push_back(push_new(jobs_.queue(push.queue), push, payload_hash(push.job)));
            equal.add(push, pushed.back().id);
        }
    }
    return pushed;
}

void Machine::publish_all(const std::vector<PublishEvent>& publications) {
    for (const auto& publication : publications) {
        publish(publication, registry_.topic(publication.topic));
    }
}

std::vector<TimerPosted> Machine::post_all(const std::vector<PostTimer>& timers) {
    std::vector<TimerPosted> posted;
    posted.reserve(timers.size());
    for (const auto& timer : timers) posted.push_back(timers_.post(timer, now_));
    return posted;
}

Result<void> Machine::may_publish_all(const std::vector<PublishEvent>& publications) {
    // The changes that earlier publications in the list will have made.
    std::map<std::string_view, const std::string*> owners;
    std::map<std::string_view, std::uint32_t> claims;
    for (std::size_t i = 0; i < publications.size(); ++i) {
        const auto& publication = publications[i];
        const auto claimed = owners.find(publication.topic);
        const auto* owner = claimed != owners.end() ? claimed->second
                                                    : owner_of(registry_.topic(publication.topic));
        const auto& publisher = publication.publisher;
        const auto further = publisher ? claims[*publisher] : 0;
        if (auto may = may_publish(publication, owner, further); !may) {
            return at_place("publications", i, may.error());
        }
        if (owner != nullptr || !publisher) continue;
        owners[publication.topic] = &*publisher;
        ++claims[*publisher];
    }
    return {};
}

Outcome Machine::perform_in(CompletionSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
