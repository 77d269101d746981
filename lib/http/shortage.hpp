/// @file
/// Errors caused by a lack of resources in this process, not by a receiver.

#pragma once

#include <algorithm>
#include <array>
#include <system_error>

namespace routemaster::detail {

[[nodiscard]] inline bool is_shortage(const std::error_code& error) noexcept {
    constexpr std::array shortages{std::errc::too_many_files_open,
                                   std::errc::too_many_files_open_in_system,
                                   std::errc::no_buffer_space, std::errc::not_enough_memory};
    return std::find(shortages.begin(), shortages.end(), error) != shortages.end();
}

}  // namespace routemaster::detail
