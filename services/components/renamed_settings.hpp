/// @file
/// Error messages for settings that were renamed.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace routemaster::service {

/// Returns the new name of a setting, or nothing if no setting was ever named `before`.
[[nodiscard]] inline std::optional<std::string> name_now(std::string_view before) {
    using Renamed = std::pair<std::string_view, std::string_view>;
    constexpr std::array<Renamed, 2> renamed{Renamed{"memory-max", "drop-oldest-above"},
                                             {"memory-free-min", "drop-oldest-free"}};
    for (const auto& [old, now] : renamed) {
        if (old == before) return std::string{now};
    }
    return std::nullopt;
}

/// Returns the error for users of the old name.
[[nodiscard]] inline std::string renamed_message(const std::string& before,
                                                 const std::string& now) {
    return "'" + before + "' was renamed to '" + now + "'; see --help for its meaning";
}

}  // namespace routemaster::service
