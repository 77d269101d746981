/// @file
/// The error replies of the server, and what to do about them.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/error.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster::redis {

/// An error reply to a call.
struct ErrorReply {
    /// What to do about it.
    enum class Kind : std::uint8_t {
        report,          ///< Report it to the caller.
        reconnect,       ///< Report it; the server is not, or no longer, the one to talk to.
        unknown_script,  ///< Send the call with the script's source.
        moved,           ///< All calls go to another server from now on.
        slot_moving,     ///< Nothing was done: send the call again when the slot has moved.
    };

    Kind kind = Kind::report;
    Error error;        ///< For the caller.
    RedisAddress to{};  ///< Of `moved`.
};

/// Reads the text of an error reply that came from `server`: as of Redis 7, where a script that was
/// refused for the server's state has changed nothing.
[[nodiscard]] ErrorReply parse_error_reply(std::string_view text, const RedisAddress& server);

}  // namespace routemaster::redis
