/// @file
/// Rules for URLs. A URL must match the grammar of RFC 3986 if other programs read it: parsers
/// tolerate different errors, and some parsers crash.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster {

/// The requirements for a URL, besides its grammar.
enum class UrlRule : std::uint8_t {
    https,  ///< `https://`, with a host, without a query: the rule of Ruby Routemaster.
    http,   ///< `https://` or `http://`, with a host, without a query.
    any,    ///< Absolute: with a scheme. URLs of http and https need a host.
};

/// The longest URL, in bytes. Most servers refuse longer request lines.
inline constexpr std::size_t url_length_max = 8'192;

/// Checks that `url` is a URI by RFC 3986, of at most `url_length_max` bytes, and satisfies `rule`;
/// else the error is `invalid`, and names `field` and the cause. Does not check the length of host
/// names, nor whether ports fit into 16 bits; these errors appear when connecting. Thread safe.
[[nodiscard]] Result<void> check_url(std::string_view url, std::string_view field,
                                     UrlRule rule = UrlRule::https);

}  // namespace routemaster
