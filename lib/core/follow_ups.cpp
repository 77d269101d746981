#include "routemaster/follow_ups.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/codec/object_fields.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/error.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

Result<void> FollowUps::push(const std::string& queue, const Job& job, const PushOptions& options,
                             TimePoint now) {
    if (!options.idempotency_key.empty()) {
        return Error{Errc::invalid,
                     "idempotency_key: is not allowed in a follow-up, which is pushed only once"};
    }
    auto made = JobQueue::step_into(queue, job, options, now);
    if (!made) return made.error();
    made->idempotency_key = {};
    if (auto checked = made->check(); !checked) return checked;
    if (!made->after.empty()) {
        return Error{Errc::invalid, "after: a follow-up cannot wait for other jobs"};
    }
    if (auto counted = count(made->payload_bytes()); !counted) return counted;
    pushes_.push_back(*std::move(made));
    return {};
}

Result<void> FollowUps::publish(const Event& event, const PublicationOptions& options,
                                TimePoint now) {
    return add(event, options, std::nullopt, now);
}

Result<void> FollowUps::add(const Event& event, const PublicationOptions& options,
                            std::optional<std::string> subscriber, TimePoint now) {
    auto made = publication(event, options.rules, options.publisher, options.event_data_max,
                            Uid{entropy(), entropy()}, now);
    if (!made) return made.error();
    made->topics_max = options.topics_max;
    made->authenticate = options.authenticate;
    made->subscriber = std::move(subscriber);
    if (auto checked = made->check(); !checked) return checked;
    if (auto counted = count(made->payload_bytes()); !counted) return counted;
    publications_.push_back(*std::move(made));
    return {};
}

Result<std::string> FollowUps::post(const std::string& space, const Value& payload, TimePoint at,
                                    TimerOptions options) {
    if (options.id.empty()) options.id = Uid{entropy(), entropy()}.text();
    PostTimer made{.space = space,
                   .id = options.id,
                   .payload = encode(payload),
                   .due_at = at,
                   .retries_max = options.retries_max,
                   .confirm_within = options.confirm_within};
    if (auto checked = made.check(); !checked) return checked.error();
    if (auto counted = count(made.payload_bytes()); !counted) return counted.error();
    timers_.push_back(std::move(made));
    return std::move(options.id);
}

Result<void> FollowUps::act(const TimerAction& action, const PublicationOptions& publications,
                            TimePoint now) {
    const auto added = add(action, publications, now);
    return added ? added : detail::headed(action_word(action), added.error());
}

Result<void> FollowUps::add(const TimerAction& action, const PublicationOptions& publications,
                            TimePoint now) {
    if (const auto* pushing = std::get_if<PushAction>(&action)) {
        return push(pushing->queue, pushing->job, pushing->options, now);
    }
    auto options = publications;
    if (const auto* publishing = std::get_if<PublishAction>(&action)) {
        options.publisher = publishing->publisher;
        options.authenticate = publishing->authenticate;
        options.topics_max = publishing->topics_max;
        return publish(publishing->event, options, now);
    }
    const auto& delivering = std::get<DeliverAction>(action);
    options.publisher = std::nullopt;
    options.authenticate = false;
    return add(delivering.event, options, delivering.subscriber, now);
}

Result<void> FollowUps::count(std::size_t bytes) {
    if (auto checked = check_follow_ups(size() + 1, bytes_ + bytes); !checked) return checked;
    bytes_ += bytes;
    return {};
}

}  // namespace routemaster
