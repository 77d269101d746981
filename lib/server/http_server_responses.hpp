/// @file
/// Hands answers to libmicrohttpd.

#pragma once

#include <microhttpd.h>

#include <memory>

#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// Makes libmicrohttpd's response objects, and keeps the most frequent one: the empty answer.
///
/// Thread safety: one thread. Each loop has its own, so that they share no reference counts.
class Responses {
public:
    Responses();

    /// Queues `response`, whose body must live until it is sent. With `last` the client is told
    /// that the connection ends after it. False when it cannot be said in HTTP: a status outside
    /// 200 to 999, a line break in a header.
    [[nodiscard]] bool queue(MHD_Connection* connection, const HttpResponse& response, bool last);

private:
    struct Destroy {
        void operator()(MHD_Response* response) const noexcept { MHD_destroy_response(response); }
    };
    using Owned = std::unique_ptr<MHD_Response, Destroy>;

    Owned empty_;
    Owned empty_last_;
};

}  // namespace routemaster::detail
