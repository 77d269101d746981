/// @file
/// The paths of the programs under test.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace routemaster::test {

/// The program that was built with the tests. If the variable ROUTEMASTER_PROGRAMS names a folder,
/// the program of the same name there, to test a different build.
inline std::string program(const std::string& built) {
    const char* const folder = std::getenv("ROUTEMASTER_PROGRAMS");
    if (folder == nullptr) return built;
    return (std::filesystem::path{folder} / std::filesystem::path{built}.filename()).string();
}

}  // namespace routemaster::test
