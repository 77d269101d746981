/// @file
/// `Target`: the scheme, host and port to which libcurl connects for a URL.

#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "routemaster/result.hpp"

namespace routemaster::detail {

struct Target {
    std::string scheme;  ///< In lower case.
    std::string host;    ///< In lower case; IPv6 addresses in brackets; names in Punycode.
    std::string port;    ///< The default port of the scheme if the URL has none.
    bool names_port;     ///< Whether the URL contains a port.
    bool is_name;        ///< Whether the host is a name, which must be resolved.

    /// The parsed URL, which saves libcurl the parsing for each transfer.
    std::shared_ptr<CURLU> parsed;
};

/// Parses `url` with libcurl. `invalid`, with the reason, if `url` is not a URL.
[[nodiscard]] Result<Target> target_of(const std::string& url);

}  // namespace routemaster::detail
