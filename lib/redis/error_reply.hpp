/// @file
/// The error replies of the server, and how the link handles them.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/error.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster::redis {

struct ErrorReply {
    /// How the link handles the error.
    enum class Kind : std::uint8_t {
        report,          ///< Reports it to the caller.
        reconnect,       ///< Reports it, and reconnects: the server is not the right one.
        unknown_script,  ///< Sends the call again, and the second time with the script's source.
        moved,           ///< Sends all calls to another server from now on.
        slot_moving,     ///< Nothing was changed: repeats the call when the slot has moved.
    };

    Kind kind = Kind::report;
    Error error;
    RedisAddress to{};  ///< For `moved`.
};

/// Parses the text of an error reply from `server`, in the wording of Redis 7. When Redis 7 refuses
/// a script because of the server's state, the script has changed nothing.
[[nodiscard]] ErrorReply parse_error_reply(std::string_view text, const RedisAddress& server);

}  // namespace routemaster::redis
