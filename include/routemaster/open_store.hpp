/// @file
/// Opens a store by its URL, so that a program can change its store by changing a setting.

#pragma once

#include <memory>
#include <string_view>

#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"

namespace routemaster {

/// Opens the store that `url` names:
///
/// - `memory:`: a store in memory, lost when the process ends.
/// - `file:PATH`, `file:PATH?durability=relaxed&memory_max=BYTES&reserve=BYTES`, or with
///   `accept_damage=1`: the embedded store in a file. See `EmbeddedStoreOptions` for these settings
///   and their defaults. BYTES is a number, or a text like `500MB` or `2GiB`, see
///   `parse_byte_size`.
/// - `redis://HOST`, `rediss://HOST`, `redis+sentinel://HOST/MASTER`, `rediss+sentinel://…`, each
///   with the settings that `parse_redis_url` reads: a Redis server, shared by any number of
///   processes. See `RedisStore`.
///
/// Any other URL, and a store that this build does not contain, is `invalid`; the error names the
/// cause. If opening the store fails, its error is returned. The store logs to `log`. Thread safe.
[[nodiscard]] Result<std::unique_ptr<Store>> open_store(std::string_view url, Log log = {});

}  // namespace routemaster
