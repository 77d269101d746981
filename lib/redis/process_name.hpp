/// @file
/// A unique name of this process.

#pragma once

#include <unistd.h>

#include <string>

#include "routemaster/entropy.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::redis {

/// A name different from the names of all other processes, even of a fork of this process.
[[nodiscard]] inline std::string process_name() {
    static const Uid uid{entropy(), entropy()};
    return std::string{uid.text()} + "-" + std::to_string(::getpid());
}

}  // namespace routemaster::redis
