/// @file
/// Listings of names. The server keeps an index of many names, which may be outdated.

#pragma once

#include <string_view>

#include "call.hpp"
#include "link.hpp"
#include "script.hpp"

namespace routemaster::redis {

/// The script that repairs an index. Thread safe.
[[nodiscard]] const Script& index_repair_script();

/// Returns a call that also repairs the index of `names`, when the script of `call` reports an
/// outdated index. The repair takes several calls of about 500 names each. Then the listing is
/// repeated once, and `done` gets the result of the repetition.
///
/// `call` must have its `done` set. `link` must outlive the call. The caller sends the returned
/// call.
[[nodiscard]] Call with_index_repair(Call call, Link& link, std::string_view prefix,
                                     std::string_view names);

}  // namespace routemaster::redis
