#include "components/store_settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "components/environment.hpp"
#include "routemaster/open_store.hpp"
#include "routemaster/public_part.hpp"

namespace routemaster::service {
namespace {

constexpr std::string_view mixed_setting = "mixed_fleet=";
constexpr std::string_view damage_setting = "accept_damage=1";

/// Returns the name of the environment variable with the URL of the store: `ROUTEMASTER_STORE`, or
/// the variable named by `REDIS_ENV_KEY` (as in Ruby Routemaster), or `ROUTEMASTER_REDIS_URL`.
std::string store_variable() {
    constexpr auto ours = "ROUTEMASTER_STORE";
    constexpr auto ruby = "ROUTEMASTER_REDIS_URL";
    if (is_set(ours)) return ours;
    const char* named = std::getenv("REDIS_ENV_KEY");
    if (named != nullptr && is_set(named)) return named;
    return is_set(ruby) ? ruby : ours;
}

bool is_redis(std::string_view url) {
    constexpr std::array<std::string_view, 4> schemes{"redis://", "rediss://", "redis+sentinel://",
                                                      "rediss+sentinel://"};
    return std::any_of(schemes.begin(), schemes.end(),
                       [url](std::string_view scheme) { return url.starts_with(scheme); });
}

/// Returns why several processes cannot share a store; empty if they can.
std::string refuse_unshared(const std::string& url) {
    if (is_redis(url)) return {};
    return "'" + without_password(url) +
           "' is not a store that processes can share; use a Redis server, as in "
           "redis://localhost:6379, or run the bus in one process, `routemaster serve`";
}

/// Returns why a folder cannot be part of a store's URL; empty if it can.
std::string refuse_folder(const std::string& folder) {
    if (folder.find('?') == std::string::npos) return {};
    return "must not contain '?', which begins the settings of a store; rename the folder, or link "
           "to it from another name";
}

/// Returns the URL of a file. Without `file://`, the first component of a path with two leading
/// slashes would be parsed as a host.
std::string url_of(const std::string& file) {
    return (file.starts_with("//") ? "file://" : "file:") + file;
}

/// Creates only the last folder of the path, because a misspelt path must not lead to an empty bus.
void make_folder(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directory(folder, failed);
    if (!failed) return;
    const auto parent = (std::filesystem::path{folder} / "").parent_path().parent_path();
    const auto why = failed == std::errc::no_such_file_or_directory
                         ? "there is no folder " + parent.string() + "; create this folder first"
                         : failed.message();
    throw CLI::ValidationError("--data-dir", "cannot make the folder " + folder + ": " + why);
}

}  // namespace

std::string StoreSettings::effective_url() const {
    auto chosen = url.empty() ? url_of(std::filesystem::path{data_dir} / "routemaster.db") : url;
    const auto add = [&](const std::string& setting) {
        chosen += (chosen.find('?') == std::string::npos ? '?' : '&') + setting;
    };
    if (mixed_fleet && chosen.find(mixed_setting) == std::string::npos) {
        add(std::string{mixed_setting} + "yes");
    }
    if (event_data_max) add("event_data_max=" + std::to_string(*event_data_max));
    if (accept_damage) add(std::string{damage_setting});
    return chosen;
}

std::string StoreSettings::shown_url() const { return without_password(effective_url()); }

bool StoreSettings::is_remote() const { return is_redis(effective_url()); }

bool StoreSettings::shared_with_ruby() const {
    return effective_url().find(std::string{mixed_setting} + "yes") != std::string::npos;
}

void declare_store(CLI::App& app, StoreSettings& settings, Sharing sharing) {
    const auto* const group = "Data";
    auto* const url = app.add_option("--store", settings.url)
                          ->type_name("URL")
                          ->envname(store_variable())
                          ->group(group);
    if (sharing == Sharing::alone) {
        url->description(
            "memory:, file:PATH, file:PATH?durability=relaxed&memory_max=BYTES or redis://HOST, "
            "instead of --data-dir");
        app.add_option("--data-dir", settings.data_dir, "Folder of the file routemaster.db")
            ->type_name("FOLDER")
            ->check(refuse_folder, "")
            ->envname("ROUTEMASTER_DATA_DIR")
            ->capture_default_str()
            ->group(group);
        app.add_flag("--accept-damage", settings.accept_damage,
                     "Open a file with a damaged log: keep what precedes the damage, and a copy "
                     "of the log beside it")
            ->envname("ROUTEMASTER_ACCEPT_DAMAGE")
            ->group(group);
    } else {
        settings.url = "redis://localhost";
        url->description("The Redis server that all processes share")
            ->check(refuse_unshared, "")
            ->capture_default_str();
    }
    app.add_flag("--mixed-fleet", settings.mixed_fleet,
                 "Share the Redis server with Ruby processes; gives up the order of "
                 "batches")
        ->envname("ROUTEMASTER_MIXED_FLEET")
        ->group(group);
}

std::unique_ptr<Store> open(const StoreSettings& settings, const Log& log) {
    const auto url = settings.effective_url();
    if (settings.mixed_fleet && !is_redis(url)) {
        throw CLI::ValidationError("--mixed-fleet", "Ruby Routemaster supports no store but Redis");
    }
    if (settings.accept_damage && !url.starts_with("file:")) {
        throw CLI::ValidationError("--accept-damage", "only a store in a file has a log");
    }
    if (settings.url.empty()) make_folder(settings.data_dir);
    auto store = open_store(url, log);
    if (!store && store.error().code() == Errc::invalid) {
        const auto* const setting = settings.url.empty() ? "--data-dir" : "--store";
        throw CLI::ValidationError(setting, store.error().context());
    }
    return std::move(store).value();
}

}  // namespace routemaster::service
