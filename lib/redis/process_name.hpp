/// @file
/// What tells this process from others.

#pragma once

#include <unistd.h>

#include <string>

#include "routemaster/entropy.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::redis {

/// A name that no other process has, not even one that was forked from this one.
[[nodiscard]] inline std::string process_name() {
    static const Uid uid{entropy(), entropy()};
    return std::string{uid.text()} + "-" + std::to_string(::getpid());
}

}  // namespace routemaster::redis
