/// @file
/// `JobRemoval`: why a job was removed without success.

#pragma once

#include <cstdint>
#include <string_view>

namespace routemaster::detail {

enum class JobRemoval : std::uint8_t { deleted, cancelled, expired, forgotten };

/// Describes the removal in an error of a dependent job, for example "was deleted".
[[nodiscard]] constexpr std::string_view text_of(JobRemoval removal) noexcept {
    switch (removal) {
        case JobRemoval::deleted: return "was deleted";
        case JobRemoval::cancelled: return "was cancelled";
        case JobRemoval::expired: return "has expired";
        case JobRemoval::forgotten: return "was forgotten";
    }
    return {};
}

}  // namespace routemaster::detail
