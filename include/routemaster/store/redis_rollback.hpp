/// @file
/// Checks whether a bus on a Redis server can move back to Ruby Routemaster.

#pragma once

#include <string>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster {

/// Data on the server that Ruby processes cannot read, or ignore.
struct RollbackFinding {
    /// Whether the data block the move: a Ruby process would crash or misread the data, or a
    /// published event would not be delivered. False: the data merely stay on the server.
    bool in_the_way = true;
    std::string what;    ///< One line. Of a token, only the public part.
    std::string remedy;  ///< What an operator should do, in one line.
};

/// What `check_rollback` may change.
struct RollbackOptions {
    /// Whether to set aside batches with events unreadable for Ruby workers: afterwards only
    /// routemaster's workers deliver these batches. Such batches were begun by an older version,
    /// which did not keep them away from Ruby workers.
    bool set_aside = false;
};

/// Looks for data that block a move back to Ruby Routemaster; docs/scaling.md describes the move.
/// Reads all queued events, in pages, while the bus goes on. Set `server.event_data_max` to the
/// limit of the Ruby workers.
///
/// Returns one finding for each kind of data and each subscriber, topic, action or queue; an empty
/// list if nothing was found. `unavailable` if the server could not be reached. Blocks until the
/// check is complete. Thread safe.
[[nodiscard]] Result<std::vector<RollbackFinding>> check_rollback(const RedisOptions& server,
                                                                  RollbackOptions options = {});

}  // namespace routemaster
