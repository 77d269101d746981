/// @file
/// The shared settings of programs that drive an embedded store.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "options.hpp"
#include "routemaster/store/embedded.hpp"
#include "run.hpp"

namespace bench {

/// The settings of each run.
struct EmbeddedSettings {
    std::string file{};
    std::uint64_t count = 500'000;  ///< The number of jobs or events.
    std::uint64_t warm_up = 50'000;
    std::uint32_t in_flight = 1'024;
};

/// Declares the options; `settings` must outlive the parsing.
inline Option declare(Options& options, EmbeddedSettings& settings) {
    options.add("--count", settings.count, "How many are measured");
    options.add("--warm-up", settings.warm_up, "How many go before");
    options.add("--in-flight", settings.in_flight, "At once");
    return options.add("--file", settings.file, "Of the store; must not exist");
}

/// The options of a strict store. Its warnings and errors go to standard error.
[[nodiscard]] inline routemaster::EmbeddedStoreOptions embedded_options() { return {.log = &warn}; }

/// The bytes of a store's file and of its log.
[[nodiscard]] inline std::uint64_t file_bytes(const std::string& file) {
    std::uint64_t bytes = 0;
    for (const auto* suffix : {"", "-wal"}) {
        std::error_code missing;
        const auto size = std::filesystem::file_size(file + suffix, missing);
        if (!missing) bytes += size;
    }
    return bytes;
}

}  // namespace bench
