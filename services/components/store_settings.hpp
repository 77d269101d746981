/// @file
/// The store of the bus.

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

/// Whether other processes use the store.
enum class Sharing {
    alone,   ///< One process is the complete bus: any store will do.
    shared,  ///< One process of many: needs a store that they can share.
};

/// A Ruby worker sends a heartbeat with each delivery or every five seconds, and a delivery takes
/// up to 22. Ruby processes wait this long, and so do ours beside them.
inline constexpr Duration ruby_worker_silence{30'000};

/// A store, by its URL.
struct StoreSettings {
    std::string url{};           ///< Empty: the file `routemaster.db` in `data_dir`.
    std::string data_dir = ".";  ///< Unused when there is a URL.
    bool mixed_fleet = false;    ///< Ruby processes share it.
    std::optional<std::size_t> event_data_max{};  ///< Of a mixed fleet; absent: Ruby Routemaster's.
    bool accept_damage = false;  ///< A file whose log is damaged is opened with what is left.

    /// The URL to open.
    [[nodiscard]] std::string effective_url() const;
    /// The same without passwords, for a log.
    [[nodiscard]] std::string shown_url() const;
    /// Whether it is on a server, which may be out of reach.
    [[nodiscard]] bool is_remote() const;
    /// Whether the flag or the URL says that Ruby processes share the store.
    [[nodiscard]] bool shared_with_ruby() const;
};

/// Declares `--store` and `--mixed-fleet`, and the settings of a file for a process that is alone.
/// `settings` must outlive the parsing.
void declare_store(CLI::App& app, StoreSettings& settings, Sharing sharing);

/// Makes the folder of the store, and opens it. Throws `Failure` when that fails, `CLI::Error` for
/// bad settings.
[[nodiscard]] std::unique_ptr<Store> open(const StoreSettings& settings, const Log& log);

}  // namespace routemaster::service
