/// @file
/// `Target`: the host and port to which libcurl connects for a URL.

#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "routemaster/result.hpp"

namespace routemaster::detail {

struct Target {
    std::string scheme;  ///< In lower case.
    std::string host;    ///< In lower case; IPv6 addresses in brackets; names in DNS form.
    std::string port;    ///< The default of the scheme if the URL has no port.
    bool names_port;     ///< Whether the URL has a port.
    bool is_name;        ///< Whether the host must be resolved.

    /// The whole URL, parsed. libcurl would parse a text again for each transfer.
    std::shared_ptr<CURLU> parsed;
};

/// Parses `url` as libcurl does. `invalid`, with the reason, if `url` is not a URL.
[[nodiscard]] Result<Target> target_of(const std::string& url);

}  // namespace routemaster::detail
