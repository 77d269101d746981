/// @file
/// Which URLs are accepted. Those that other programs read must match the grammar of RFC 3986:
/// parsers differ in which errors they tolerate, and some crash.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster {

/// What a URL must be, besides well formed.
enum class UrlRule : std::uint8_t {
    https,  ///< `https://`, with a host, without a query: the rule of Ruby Routemaster.
    http,   ///< The same, and plain `http://` too.
    any,    ///< Absolute: it has a scheme. Those of http and https need a host.
};

/// The longest URL, in bytes. Longer request lines are refused by most servers.
inline constexpr std::size_t url_length_max = 8'192;

/// Checks that `url` is a URI by RFC 3986, of at most `url_length_max` bytes, and satisfies `rule`.
/// `invalid`, naming `field` and what is wrong, otherwise. It does not check the length of host
/// names, nor whether ports fit 16 bits: connecting does. Thread safe.
[[nodiscard]] Result<void> check_url(std::string_view url, std::string_view field,
                                     UrlRule rule = UrlRule::https);

}  // namespace routemaster
