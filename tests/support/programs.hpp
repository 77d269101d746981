/// @file
/// The paths of the programs under test.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace routemaster::test {

/// The program that was built with the tests, or the one of the same name in the folder that the
/// variable ROUTEMASTER_PROGRAMS names, so that the same tests run on other builds.
inline std::string program(const std::string& built) {
    const char* const folder = std::getenv("ROUTEMASTER_PROGRAMS");
    if (folder == nullptr) return built;
    return (std::filesystem::path{folder} / std::filesystem::path{built}.filename()).string();
}

}  // namespace routemaster::test
