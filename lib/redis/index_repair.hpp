/// @file
/// Repairs the server's sorted index of a set of names when a listing finds that it is outdated.

#pragma once

#include <string_view>

#include "call.hpp"
#include "link.hpp"
#include "script.hpp"

namespace routemaster::redis {

/// The script that repairs an index. Thread safe.
[[nodiscard]] const Script& index_repair_script();

/// Wraps a call that lists names. If its script reports that the index of `names` is outdated, the
/// wrapper repairs the index by several calls of about 500 names each. Then it repeats the listing
/// once, and `done` gets the result of the repetition.
///
/// `call` must have its `done` set. `link` must outlive the call. The caller must send the returned
/// call.
[[nodiscard]] Call with_index_repair(Call call, Link& link, std::string_view prefix,
                                     std::string_view names);

}  // namespace routemaster::redis
