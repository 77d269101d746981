/// @file
/// Which part of a list a request asks for, and the link to the part that follows.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::api {

/// Items that one answer holds at most, and unless the client asks for fewer.
inline constexpr std::uint32_t page_limit_max = 1'000;

/// Bytes of JSON after which an answer ends before its limit: what a client does not read stays in
/// the memory of the bus.
inline constexpr std::size_t page_bytes_max = 1U << 20U;

/// The part of a list that a client wants.
struct PageQuery {
    std::string after{};                   ///< Empty: from the beginning.
    std::uint32_t limit = page_limit_max;  ///< 1 to `page_limit_max`.
};

/// Reads `after` and `limit` from the query of a target; other parameters are ignored. `invalid`,
/// naming the parameter, when one of them makes no sense.
[[nodiscard]] Result<PageQuery> page_query(std::string_view query);

/// The value of a `Link` header (RFC 8288) that leads to what comes after the item `last`.
[[nodiscard]] std::string next_link(std::string_view path, std::string_view last,
                                    std::uint32_t limit);

}  // namespace routemaster::api
