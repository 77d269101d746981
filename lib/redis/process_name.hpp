/// @file
/// The name of this process.

#pragma once

#include <unistd.h>

#include <string>

#include "routemaster/entropy.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::redis {

/// A name that no other process has, not even a fork of this process.
[[nodiscard]] inline std::string process_name() {
    static const Uid uid{entropy(), entropy()};
    return std::string{uid.text()} + "-" + std::to_string(::getpid());
}

}  // namespace routemaster::redis
