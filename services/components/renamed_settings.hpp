/// @file
/// Settings that had another name.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace routemaster::service {

/// What a setting is called now; nothing when it never had the name `before`.
[[nodiscard]] inline std::optional<std::string> name_now(std::string_view before) {
    using Renamed = std::pair<std::string_view, std::string_view>;
    constexpr std::array<Renamed, 2> renamed{Renamed{"memory-max", "drop-oldest-above"},
                                             {"memory-free-min", "drop-oldest-free"}};
    for (const auto& [old, now] : renamed) {
        if (old == before) return std::string{now};
    }
    return std::nullopt;
}

/// Tells whoever uses the old name.
[[nodiscard]] inline std::string told_renamed(const std::string& before, const std::string& now) {
    return "'" + before + "' is called '" + now + "' now; --help says what it counts";
}

}  // namespace routemaster::service
