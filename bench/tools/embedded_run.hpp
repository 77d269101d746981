/// @file
/// What the programs that drive an embedded store share: their settings.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

#include "routemaster/store/embedded.hpp"
#include "run.hpp"

namespace bench {

/// What every run can be told.
struct EmbeddedSettings {
    std::string file;
    std::uint64_t count = 500'000;  ///< Of what the program is about.
    std::uint64_t warm_up = 50'000;
    std::uint32_t in_flight = 1'024;
};

/// Declares them; `settings` must outlive the parsing.
inline CLI::Option* declare(CLI::App& app, EmbeddedSettings& settings) {
    app.add_option("--count", settings.count, "How many are measured")->capture_default_str();
    app.add_option("--warm-up", settings.warm_up, "How many go before")->capture_default_str();
    app.add_option("--in-flight", settings.in_flight, "At once")->capture_default_str();
    return app.add_option("--file", settings.file, "Of the store; must not exist");
}

/// Strict. What the store has to tell that is not well goes to standard error.
[[nodiscard]] inline routemaster::EmbeddedStoreOptions embedded_options() { return {.log = &warn}; }

/// Bytes of a store's file, and of the one that SQLite keeps beside it.
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
