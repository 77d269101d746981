/// @file
/// Runs `routemaster` until it ends.

#pragma once

#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/running_bus.hpp"

namespace routemaster::test {

/// The exit status and the output of a program.
struct Ended {
    int status = 0;
    std::string output;
    std::string errors;
};

/// Runs `routemaster WORDS…` until it ends.
inline Ended run(const std::vector<std::string>& words,
                 const Process::Environment& environment = {}, const std::string& input = {}) {
    std::vector<std::string> command{routemaster_binary};
    command.insert(command.end(), words.begin(), words.end());
    Process process{command, environment, input};
    const int status = process.wait();
    return {status, process.output(), process.errors()};
}

}  // namespace routemaster::test
