/// @file
/// The tags of the counters of published events.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routemaster/counter.hpp"

namespace routemaster::detail {

/// The tags of a topic and its publisher. The publisher's tag omits the secret part of its token,
/// which follows `--`, as in Ruby Routemaster.
[[nodiscard]] inline std::vector<CounterKey::Tag> published_tags(
    const std::string& topic, const std::optional<std::string>& publisher) {
    std::string tag = "null";
    if (publisher) {
        const auto end = publisher->find("--");
        tag = end == std::string::npos ? "malformed" : publisher->substr(0, end);
    }
    return {{"publisher", tag}, {"topic", topic}};
}

}  // namespace routemaster::detail
