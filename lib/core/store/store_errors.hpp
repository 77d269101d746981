/// @file
/// Error texts for rejected steps, common to all stores.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "routemaster/error.hpp"

namespace routemaster::detail {

[[nodiscard]] inline Error topic_claimed() {
    return {Errc::forbidden, "topic: belongs to another publisher"};
}

[[nodiscard]] inline Error too_many_topics() {
    return {Errc::limit_exceeded, "topic: the publisher has reached its limit of topics"};
}

[[nodiscard]] inline Error unknown_publisher() {
    return {Errc::unauthenticated, "publisher: is not a valid token"};
}

[[nodiscard]] inline Error unknown_subscriber() {
    return {Errc::invalid, "subscriber: does not exist"};
}

[[nodiscard]] inline Error other_push() {
    return {Errc::invalid, "idempotency_key: was used for a push with other content"};
}

[[nodiscard]] inline Error not_queued() {
    return {Errc::invalid, "after: is not a queued batch of the subscriber"};
}

[[nodiscard]] inline Error not_dead() {
    return {Errc::invalid, "after: is not a DEAD batch of the subscriber"};
}

/// Adds the position of a step inside a list to the step's error.
[[nodiscard]] inline Error at_place(std::string_view list, std::size_t place, const Error& error) {
    return {error.code(),
            std::string{list} + '[' + std::to_string(place) + "]: " + error.context()};
}

[[nodiscard]] inline Error without_place(std::string_view list, std::size_t place,
                                         const Error& error) {
    const auto head = at_place(list, place, {error.code(), {}}).context();
    const auto& text = error.context();
    return {error.code(), text.starts_with(head) ? text.substr(head.size()) : text};
}

}  // namespace routemaster::detail
