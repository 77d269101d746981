/// @file
/// Validation of URLs. A URL that other programs read must match the grammar of RFC 3986, because
/// parsers tolerate different errors, and some parsers crash.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster {

/// What a URL must satisfy, besides the grammar.
enum class UrlRule : std::uint8_t {
    https,  ///< `https://`, with a host, without a query: the rule of Ruby Routemaster.
    http,   ///< `https://` or `http://`, with a host, without a query.
    any,    ///< Absolute: with a scheme. URLs of http and https need a host.
};

/// Maximum length of a URL, in bytes. Most servers reject longer request lines.
inline constexpr std::size_t url_length_max = 8'192;

/// Checks that `url` is a URI by RFC 3986, has at most `url_length_max` bytes, and satisfies
/// `rule`. Otherwise the error is `invalid`, and names `field` and the cause. The length of host
/// names and the range of ports are not checked; such errors occur when connecting. Thread safe.
[[nodiscard]] Result<void> check_url(std::string_view url, std::string_view field,
                                     UrlRule rule = UrlRule::https);

}  // namespace routemaster
