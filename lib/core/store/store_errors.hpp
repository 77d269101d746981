/// @file
/// What all stores say of a step that its caller may not do.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "routemaster/error.hpp"

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

/// Why an event cannot be handed to one subscriber.
[[nodiscard]] inline Error unknown_subscriber() {
    return {Errc::invalid, "subscriber: does not exist, or no longer"};
}

/// Why a push is not the repetition that its idempotency key makes it.
[[nodiscard]] inline Error other_push() {
    return {Errc::invalid, "idempotency_key: another push had it, which asked for something else"};
}

/// Why a list cannot go on behind a batch.
[[nodiscard]] inline Error not_queued() {
    return {Errc::invalid, "after: is not, or no longer, a queued batch of the subscriber"};
}

/// Why a list of DEAD batches cannot.
[[nodiscard]] inline Error not_dead() {
    return {Errc::invalid, "after: is not, or no longer, a DEAD batch of the subscriber"};
}

/// What is wrong with a step that stands at a place of a list in another one.
[[nodiscard]] inline Error at_place(std::string_view list, std::size_t place, const Error& error) {
    return {error.code(),
            std::string{list} + '[' + std::to_string(place) + "]: " + error.context()};
}

/// The same without the place, which it begins with.
[[nodiscard]] inline Error without_place(std::string_view list, std::size_t place,
                                         const Error& error) {
    const auto head = at_place(list, place, {error.code(), {}}).context();
    const auto& text = error.context();
    return {error.code(), text.starts_with(head) ? text.substr(head.size()) : text};
}

}  // namespace routemaster::detail
