/// @file
/// The settings of the store.

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

/// Whether further processes use the store.
enum class Sharing {
    alone,   ///< One process is the complete bus; any store will do.
    shared,  ///< One of several processes: needs a store that processes can share.
};

/// The time without a heartbeat after which a worker counts as dead in a mixed deployment (Ruby and
/// routemaster processes on one Redis). A Ruby worker sends a heartbeat with each delivery, or
/// every five seconds; a delivery takes up to 22 seconds. Ruby processes use the same limit.
inline constexpr Duration ruby_worker_silence{30'000};

/// A store, named by its URL.
struct StoreSettings {
    std::string url{};           ///< Empty for the file `routemaster.db` in `data_dir`.
    std::string data_dir = ".";  ///< Ignored when `url` is set.
    bool mixed_fleet = false;    ///< Ruby processes share the store.
    std::optional<std::size_t> event_data_max{};  ///< For a mixed deployment; absent for the limit
                                                  ///< of Ruby Routemaster.
    bool accept_damage = false;  ///< Opens a file with a damaged log, with the undamaged rest of
                                 ///< its data.

    /// The URL to open.
    [[nodiscard]] std::string effective_url() const;
    /// `effective_url` without passwords, for a log.
    [[nodiscard]] std::string shown_url() const;
    /// Whether the store is a server, which can be unreachable.
    [[nodiscard]] bool is_remote() const;
    /// Whether the flag or the URL says that Ruby processes share the store.
    [[nodiscard]] bool shared_with_ruby() const;
};

/// Declares `--store` and `--mixed-fleet`, and for `Sharing::alone` the settings of a file.
/// `settings` must outlive the parsing.
void declare_store(CLI::App& app, StoreSettings& settings, Sharing sharing);

/// Makes the folder of the store, and opens the store. Throws `Failure` when opening fails, and
/// `CLI::Error` for bad settings.
[[nodiscard]] std::unique_ptr<Store> open(const StoreSettings& settings, const Log& log);

}  // namespace routemaster::service
