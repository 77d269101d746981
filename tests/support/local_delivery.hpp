/// @file
/// Options of a transport to receivers on this machine.

#pragma once

#include "routemaster/time.hpp"
#include "routemaster/transport/http.hpp"

namespace routemaster::test {

inline const HttpTransportOptions local{.allow_http = true, .allow_loopback = true};

inline HttpTransportOptions local_within(Duration total) {
    HttpTransportOptions options = local;
    options.total_timeout = total;
    return options;
}

}  // namespace routemaster::test
