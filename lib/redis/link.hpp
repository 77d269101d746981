/// @file
/// The link to a Redis server: one connection that carries the calls of all threads, and one that
/// listens.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "call.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/time.hpp"
#include "script.hpp"

namespace routemaster::redis {

/// Runs scripts on the server that the options name, over one pipelined connection, and listens to
/// one channel over another. It finds the server again after whatever happened to it.
///
/// Calls travel in the order of `send`, as many together as are waiting. A call that was not yet
/// sent when the connection broke waits for the next connection until its time is over
/// (`unavailable`); one that was sent is in doubt (`timed_out`). Beyond `waiting_max` calls a call
/// is answered `unavailable` at once.
///
/// Thread safety: all members may be called from any thread.
class Link {
public:
    /// Begins to connect; does not wait for it. `scripts` are loaded with each connection and must
    /// outlive the link. `heard` is called with each message of `channel`, and with an empty text
    /// whenever messages may have been missed (the listening connection is new); it must not block.
    Link(RedisOptions options, std::vector<const Script*> scripts, std::string channel,
         std::function<void(std::string_view)> heard);

    /// Answers what waits `cancelled`, what is in doubt `timed_out`, and closes both connections.
    ~Link();

    /// Sends calls, one right after the other. They are moved from.
    void send(std::span<Call> calls);

    /// What to add to the system clock's time of this moment to get the server's. Zero when the two
    /// differ by no more than the uncertainty of the measurement. Refreshed in the background;
    /// steps of this machine's clock are noticed at once.
    [[nodiscard]] Duration clock_offset() const;

    /// Waits for the first connection: nothing once it stands, else why there is none yet.
    [[nodiscard]] Result<void> wait_until_connected(Duration patience);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster::redis
