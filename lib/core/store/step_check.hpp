/// @file
/// Checks a step by itself, whatever the state of the store, and the errors that all stores return
/// when its caller lacks a right.

#pragma once

#include <string>

#include "routemaster/names.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster::detail {

/// Why a publisher may neither publish in a topic nor remove it.
[[nodiscard]] inline Error topic_claimed() {
    return {Errc::forbidden, "topic: belongs to another publisher"};
}

/// Why a publisher may not claim a topic.
[[nodiscard]] inline Error too_many_topics() {
    return {Errc::limit_exceeded, "topic: the publisher has as many topics as it may"};
}

/// Why somebody may not publish at all.
[[nodiscard]] inline Error unknown_publisher() {
    return {Errc::unauthenticated, "publisher: is not a valid token"};
}

/// Why a list cannot continue behind a batch.
[[nodiscard]] inline Error not_dead() {
    return {Errc::invalid, "after: is not, or no longer, a DEAD batch of the subscriber"};
}

/// Most steps are always valid.
template <class S>
[[nodiscard]] Result<void> check_step(const S&) {
    return {};
}

[[nodiscard]] inline Result<void> check_asked(std::uint32_t limit) {
    if (limit == 0) return Error{Errc::invalid, "limit: must be at least 1"};
    return {};
}

[[nodiscard]] inline Result<void> check_step(const PublishEvent& step) {
    if (is_topic_name(step.topic)) return {};
    return Error{Errc::invalid, "topic: must be " + std::string{to_string(TopicRule::any)}};
}

[[nodiscard]] inline Result<void> check_step(const Subscribe& step) {
    return check(step.token, step.topics, step.options);
}

[[nodiscard]] inline Result<void> check_step(const PutToken& step) {
    for (const auto& [field, name] : {std::pair{"token", &step.token}, {"name", &step.name}}) {
        if (!is_user_name(*name)) {
            return Error{Errc::invalid,
                         std::string{field} + ": must be 1 to 64 of a-z, 0-9, :, _ and -"};
        }
    }
    return {};
}

[[nodiscard]] inline Result<void> check_step(const PushJob& step) {
    if (step.queue.empty() || step.queue.size() > name_length_max) {
        return Error{Errc::invalid, "queue: must be 1 to 64 characters"};
    }
    if (step.job.empty()) return Error{Errc::invalid, "job: must not be empty"};
    return {};
}

[[nodiscard]] inline Result<void> check_step(const ListTopics& step) {
    return check_asked(step.page.limit);
}
[[nodiscard]] inline Result<void> check_step(const ListSubscribers& step) {
    return check_asked(step.page.limit);
}
[[nodiscard]] inline Result<void> check_step(const ListTokens& step) {
    return check_asked(step.page.limit);
}
[[nodiscard]] inline Result<void> check_step(const ListCounters& step) {
    return check_asked(step.page.limit);
}
[[nodiscard]] inline Result<void> check_step(const ListBatches& step) {
    return check_asked(step.limit);
}
[[nodiscard]] inline Result<void> check_step(const AcquireJobs& step) {
    return check_asked(step.limit);
}
[[nodiscard]] inline Result<void> check_step(const ListDeadBatches& step) {
    return check_asked(step.limit);
}
[[nodiscard]] inline Result<void> check_step(const DropOldestBatches& step) {
    return check_asked(step.limit);
}

}  // namespace routemaster::detail
