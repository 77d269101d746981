/// @file
/// Where a URL leads: what libcurl connects to.

#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "routemaster/result.hpp"

namespace routemaster::detail {

/// The host of a URL and its port.
struct Target {
    std::string scheme;  ///< In lower case.
    std::string host;    ///< In lower case; IPv6 addresses in brackets; names in DNS form.
    std::string port;    ///< The scheme's default when the URL has none.
    bool names_port;     ///< Whether the URL has a port.
    bool is_name;        ///< Whether the host must be resolved.

    /// The whole URL. Each transfer that is given a text parses it again.
    std::shared_ptr<CURLU> parsed;
};

/// Parses `url` as libcurl does. `invalid`, with the reason, when it is not a URL.
[[nodiscard]] Result<Target> target_of(const std::string& url);

}  // namespace routemaster::detail
