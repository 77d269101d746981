/// @file
/// Settings of the store.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::service {

/// Whether several processes use the store.
enum class Sharing {
    alone,   ///< One process is the complete bus, with any store.
    shared,  ///< One of several processes, which need a shared store.
};

/// Time without a heartbeat after which a worker counts as dead in a mixed deployment (Ruby and
/// routemaster processes on one Redis). A Ruby worker sends a heartbeat with each delivery, which
/// may last 22 seconds, or every five seconds. Ruby processes use the same limit.
inline constexpr Duration ruby_worker_silence{30'000};

/// The settings of a store, which is identified by its URL.
struct StoreSettings {
    std::string url{};           ///< Empty: the file `routemaster.db` in `data_dir`.
    std::string data_dir = ".";  ///< Ignored when `url` is set.
    bool mixed_fleet = false;    ///< Whether Ruby processes share the store.
    /// Used if Ruby processes share the store; absent: Ruby Routemaster's limit.
    std::optional<std::size_t> event_data_max{};
    bool accept_damage = false;  ///< Whether to open a damaged file with its undamaged data.

    /// Returns the URL to open.
    [[nodiscard]] std::string effective_url() const;
    /// Returns `effective_url` without passwords, for a log.
    [[nodiscard]] std::string shown_url() const;
    /// Whether the store is a server, which may be unreachable.
    [[nodiscard]] bool is_remote() const;
    /// Whether Ruby processes share the store, by the flag or by the URL.
    [[nodiscard]] bool shared_with_ruby() const;
};

/// Declares `--store` and `--mixed-fleet`, and for `Sharing::alone` the settings of a file.
/// `settings` must outlive the parsing.
void declare_store(CLI::App& app, StoreSettings& settings, Sharing sharing);

/// Creates the folder of the store, and opens the store. Throws `Failure` if opening fails, and
/// `CLI::Error` for invalid settings.
[[nodiscard]] std::unique_ptr<Store> open(const StoreSettings& settings, const Log& log);

}  // namespace routemaster::service
