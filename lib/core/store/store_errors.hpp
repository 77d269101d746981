/// @file
/// What all stores say of a step that its caller may not do.

#pragma once

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

/// Why a list cannot go on behind a batch.
[[nodiscard]] inline Error not_dead() {
    return {Errc::invalid, "after: is not, or no longer, a DEAD batch of the subscriber"};
}

}  // namespace routemaster::detail
