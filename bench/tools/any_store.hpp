/// @file
/// Opens the store that a program is started with, of any kind.

#pragma once

#include <memory>
#include <string>

#include "options.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/redis.hpp"
#include "run.hpp"

namespace bench {

/// Where the store is: in a file, on Redis, or, if neither is named, in memory.
struct AnyStore {
    std::string file;
    std::string url;
};

/// Declares the options; `store` must outlive the parsing.
inline void declare(Options& options, AnyStore& store) {
    options.add("--file", store.file, "Of an embedded store; must not exist");
    options.add("--url", store.url, "Of a Redis server");
}

/// Its warnings and errors go to standard error.
[[nodiscard]] inline std::unique_ptr<routemaster::Store> open(const AnyStore& store) {
    namespace rm = routemaster;
    if (!store.file.empty()) {
        return std::make_unique<rm::EmbeddedStore>(store.file,
                                                   rm::EmbeddedStoreOptions{.log = &warn});
    }
    if (!store.url.empty()) {
        auto options = rm::parse_redis_url(store.url).value();
        options.log = &warn;
        return std::make_unique<rm::RedisStore>(options);
    }
    return std::make_unique<rm::MemoryStore>();
}

}  // namespace bench
