/// @file
/// Opens a store by its URL, so a program changes its store by changing a string.

#pragma once

#include <memory>
#include <string_view>

#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"

namespace routemaster {

/// Opens the store that `url` names:
///
/// - `memory:`: lives as long as the process.
/// - `file:PATH`, `file:PATH?durability=relaxed&memory_max=BYTES&reserve=BYTES`, or with
///   `accept_damage=1`: the embedded store in a file; see `EmbeddedStoreOptions` for these settings
///   and their defaults; BYTES may be written as `500MB` or `2GiB`, see `parse_byte_size`.
/// - `redis://HOST`, `rediss://HOST`, `redis+sentinel://HOST/MASTER`, `rediss+sentinel://…`, each
///   with the settings that `parse_redis_url` reads: a Redis server, which any number of processes
///   may share; see `RedisStore`.
///
/// `invalid`, naming what is wrong, for any other URL, and for a store that this build does not
/// have; else the error of the store. The store logs to `log`. Thread safe.
[[nodiscard]] Result<std::unique_ptr<Store>> open_store(std::string_view url, Log log = {});

}  // namespace routemaster
