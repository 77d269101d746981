/// @file
/// The names of the machine and the process, for operators.

#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

namespace routemaster::detail {

/// The host name; `localhost` if there is none.
[[nodiscard]] inline std::string host_name() {
    std::array<char, 256> name{};
    const bool known = ::gethostname(name.data(), name.size() - 1) == 0 && name.front() != '\0';
    return known ? std::string{name.data()} : "localhost";
}

/// The id of this process. It changes with a fork.
[[nodiscard]] inline std::uint64_t process_id() { return static_cast<std::uint64_t>(::getpid()); }

}  // namespace routemaster::detail
