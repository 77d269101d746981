/// @file
/// `ErrorReply`: classifies error replies of the server.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/error.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster::redis {

struct ErrorReply {
    /// What the link does about the error.
    enum class Kind : std::uint8_t {
        report,          ///< The error is reported to the caller.
        reconnect,       ///< Reported, and the link reconnects to find the right server.
        unknown_script,  ///< The call is sent again, the second time with the source of the script.
        moved,           ///< All calls are sent to another server from now on.
        slot_moving,     ///< Nothing changed: repeated after the slot was migrated.
    };

    Kind kind = Kind::report;
    Error error;
    RedisAddress to{};
};

/// Parses the text of an error reply from `server`, as Redis 7 words it. If Redis 7 refuses a
/// script because of the server's state, the script has changed nothing.
[[nodiscard]] ErrorReply parse_error_reply(std::string_view text, const RedisAddress& server);

}  // namespace routemaster::redis
