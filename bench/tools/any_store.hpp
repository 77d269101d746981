/// @file
/// Opens the store that the options of a program name.

#pragma once

#include <memory>
#include <string>

#include "options.hpp"
#include "routemaster/store/embedded.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/redis.hpp"
#include "run.hpp"

namespace bench {

/// The location of the store: a file, a Redis server, or, if both are empty, memory.
struct AnyStore {
    std::string file;
    std::string url;
};

/// Declares the options; `store` must outlive the parsing.
inline void declare(Options& options, AnyStore& store) {
    options.add("--file", store.file, "Of an embedded store; must not exist");
    options.add("--url", store.url, "Of a Redis server");
}

/// Opens the store. Its warnings and errors go to standard error.
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
