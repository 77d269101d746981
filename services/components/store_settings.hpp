/// @file
/// Which store the service keeps the bus in.

#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/log.hpp"
#include "routemaster/store.hpp"

namespace routemaster::service {

/// Who else has the store.
enum class Sharing {
    alone,   ///< A process that is the whole bus: any store will do.
    shared,  ///< One process of many: a store that belongs to one of them will not.
};

/// A store, by its URL.
struct StoreSettings {
    std::string url{};           ///< Empty: the file `routemaster.db` in `data_dir`.
    std::string data_dir = ".";  ///< Unused when there is a URL.
    bool mixed_fleet = false;    ///< Ruby processes share it.
    bool accept_damage = false;  ///< A file whose log is damaged is opened with what is left.

    /// What to open.
    [[nodiscard]] std::string effective_url() const;
    /// What to open, without passwords, for a log.
    [[nodiscard]] std::string shown_url() const;
    /// Whether it is a server's, which may be out of reach.
    [[nodiscard]] bool is_remote() const;
    /// Whether the flag or the URL says that Ruby processes share the store.
    [[nodiscard]] bool shared_with_original() const;
};

/// Declares `--store` and `--mixed-fleet`, and what concerns a file for a process that is alone.
/// `settings` must outlive the parsing.
void declare_store(CLI::App& app, StoreSettings& settings, Sharing sharing);

/// Opens the store, and makes its folder. Throws `Failure` when that does not work, `CLI::Error`
/// when the settings make no sense.
[[nodiscard]] std::unique_ptr<Store> open(const StoreSettings& settings, const Log& log);

}  // namespace routemaster::service
