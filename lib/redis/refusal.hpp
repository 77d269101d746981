/// @file
/// What the server means when it answers a call with an error.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/error.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster::redis {

/// An error reply, understood.
struct Refusal {
    /// What to do about it.
    enum class Kind : std::uint8_t {
        tell,            ///< Tell the caller.
        look_again,      ///< Tell the caller; the server is not, or no longer, the one to talk to.
        unknown_script,  ///< Send the call with the script's source.
        moved,           ///< Everything is at another server from now on.
        ask,             ///< This call is to be sent to another server.
    };

    Kind kind = Kind::tell;
    Error error;        ///< For the caller.
    RedisAddress to{};  ///< Of `moved` and `ask`.
};

/// Reads the text of an error reply that came from `server`: as of Redis 7, where a script that was
/// refused for the server's state has changed nothing.
[[nodiscard]] Refusal read_refusal(std::string_view text, const RedisAddress& server);

}  // namespace routemaster::redis
