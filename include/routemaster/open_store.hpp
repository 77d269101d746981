/// @file
/// Opens a store by its URL: to change the store is to change a string.

#pragma once

#include <memory>
#include <string_view>

#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"

namespace routemaster {

/// Opens the store that `url` names:
///
/// - `memory:`: dies with the process.
/// - `file:PATH`, `file:PATH?durability=relaxed`: the embedded store in a file; see
///   `EmbeddedStore`. `durability` is `strict` unless said otherwise.
///
/// `invalid` for any other URL, naming what is wrong with it; else the error of the store. Thread
/// safe.
[[nodiscard]] Result<std::unique_ptr<Store>> open_store(std::string_view url, Log log = {});

}  // namespace routemaster
