#include "routemaster/open_store.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "routemaster/byte_size.hpp"
#include "routemaster/public_part.hpp"
#include "routemaster/store/memory.hpp"
#if ROUTEMASTER_HAS_EMBEDDED
#include "routemaster/store/embedded.hpp"
#endif
#if ROUTEMASTER_HAS_REDIS
#include "routemaster/store/redis.hpp"
#endif

namespace routemaster {
namespace {

constexpr std::string_view memory_url = "memory:";
constexpr std::string_view file_scheme = "file:";
constexpr std::string_view redis_schemes[] = {"redis://", "rediss://", "redis+sentinel://",
                                              "rediss+sentinel://"};

Error invalid(std::string_view url, std::string_view why) {
    return {Errc::invalid, "store URL '" + without_password(url) + "': " + std::string{why}};
}

template <class S, class... Settings>
Result<std::unique_ptr<Store>> construct(Settings&&... settings) {
    try {
        return std::unique_ptr<Store>{std::make_unique<S>(std::forward<Settings>(settings)...)};
    } catch (const Failure& failure) {
        return failure.error();
    }
}

#if ROUTEMASTER_HAS_EMBEDDED
/// Applies a setting in a store's URL to `options`. False if the setting or its value is unknown.
bool take_setting(std::string_view setting, EmbeddedStoreOptions& options) {
    if (setting == "durability=strict" || setting == "durability=relaxed") {
        const bool strict = setting.ends_with("strict");
        options.durability = strict ? Durability::strict : Durability::relaxed;
        return true;
    }
    if (setting == "accept_damage=1") return options.accept_damage = true;
    const auto mark = std::min(setting.find('='), setting.size());
    const auto name = setting.substr(0, mark);
    const auto number = parse_byte_size(setting.substr(std::min(mark + 1, setting.size())));
    if (!number) return false;
    for (const auto& [bytes, field] : {std::pair{"memory_max", &EmbeddedStoreOptions::memory_max},
                                       {"reserve", &EmbeddedStoreOptions::reserve},
                                       {"memory_reserve", &EmbeddedStoreOptions::memory_reserve}}) {
        if (name != bytes) continue;
        options.*field = *number;
        return true;
    }
    if (*number == 0 || *number > UINT32_MAX) return false;
    for (const auto& [names, field] :
         {std::pair{"queues_max", &EmbeddedStoreOptions::queues_max},
          {"timer_namespaces_max", &EmbeddedStoreOptions::timer_namespaces_max}}) {
        if (name != names) continue;
        options.*field = static_cast<std::uint32_t>(*number);
        return true;
    }
    return false;
}

Result<std::unique_ptr<Store>> open_file(std::string_view url, Log log) {
    auto path = url.substr(file_scheme.size());
    EmbeddedStoreOptions options{.log = std::move(log)};
    if (const auto query = path.find('?'); query != std::string_view::npos) {
        auto settings = path.substr(query + 1);
        path = path.substr(0, query);
        while (true) {
            const auto end = settings.find('&');
            const auto setting = settings.substr(0, end);
            if (!take_setting(setting, options)) {
                return invalid(
                    url, "'" + std::string{setting} +
                             "' is none of its settings, which are durability=strict, "
                             "durability=relaxed, memory_max=BYTES, memory_reserve=BYTES, "
                             "reserve=BYTES (as 500MB), queues_max=N, timer_namespaces_max=N and "
                             "accept_damage=1, with & between them");
            }
            if (end == std::string_view::npos) break;
            settings.remove_prefix(end + 1);
        }
    }
    if (path.starts_with("//")) path.remove_prefix(2);
    if (path.empty()) return invalid(url, "names no file");
    return construct<EmbeddedStore>(path, std::move(options));
}
#else
Result<std::unique_ptr<Store>> open_file(std::string_view url, const Log&) {
    return invalid(url, "this build has no embedded store");
}
#endif

bool is_redis(std::string_view url) {
    return std::any_of(std::begin(redis_schemes), std::end(redis_schemes),
                       [url](std::string_view scheme) { return url.starts_with(scheme); });
}

#if ROUTEMASTER_HAS_REDIS
Result<std::unique_ptr<Store>> open_redis(std::string_view url, Log log) {
    auto options = parse_redis_url(url);
    if (!options) return options.error();
    options->log = std::move(log);
    return construct<RedisStore>(*std::move(options));
}
#else
/// The error must not contain the URL, which may include a password.
Result<std::unique_ptr<Store>> open_redis(std::string_view, const Log&) {
    return Error{Errc::invalid, "store URL: this build has no Redis store"};
}
#endif

}  // namespace

Result<std::unique_ptr<Store>> open_store(std::string_view url, Log log) {
    if (url == memory_url) return std::unique_ptr<Store>{std::make_unique<MemoryStore>()};
    if (url.starts_with(memory_url)) return invalid(url, "nothing may follow memory:");
    if (url.starts_with(file_scheme)) return open_file(url, std::move(log));
    if (is_redis(url)) return open_redis(url, std::move(log));
    return invalid(url,
                   "begin it with memory:, file:, redis://, rediss://, redis+sentinel:// or "
                   "rediss+sentinel://");
}

}  // namespace routemaster
