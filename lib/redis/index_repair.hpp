/// @file
/// Listings of names: the server keeps an index of many names, which may be out of date.

#pragma once

#include <string_view>

#include "call.hpp"
#include "link.hpp"
#include "script.hpp"

namespace routemaster::redis {

/// The script that repairs an index, to be loaded into a server. Thread safe.
[[nodiscard]] const Script& index_repair_script();

/// Makes the call of such a step repair the index of `names` when its script replies that the index
/// is out of date: in as many calls as it takes, each of which checks some 500 names. Then it
/// repeats the listing, once, and returns the result of the repetition.
///
/// `call` must have its `done` set. `link` must outlive the call, which is sent like any other.
[[nodiscard]] Call with_index_repair(Call call, Link& link, std::string_view prefix,
                                     std::string_view names);

}  // namespace routemaster::redis
