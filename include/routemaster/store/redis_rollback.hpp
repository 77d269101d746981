/// @file
/// Checks whether a bus on a Redis server can be moved back to Ruby Routemaster.

#pragma once

#include <string>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster {

/// A problem for the move back: data on the server that Ruby processes cannot read, or ignore.
struct RollbackFinding {
    /// Whether the data prevent the move: a Ruby process would crash or misread the data, or a
    /// published event would not be delivered. False: the data merely remain on the server unused.
    bool in_the_way = true;
    std::string what;    ///< One line. Contains only the public part of a token.
    std::string remedy;  ///< What an operator should do, in one line.
};

/// What `check_rollback` may change.
struct RollbackOptions {
    /// Whether to set aside batches with events that Ruby workers cannot read. Afterwards only
    /// routemaster's workers deliver these batches. Such batches were created by an older version,
    /// which did not hide them from Ruby workers.
    bool set_aside = false;
};

/// Searches for data that prevent a move back to Ruby Routemaster; docs/scaling.md describes the
/// move. Reads all queued events, in pages, while the bus is in use. Set `server.event_data_max` to
/// the limit of the Ruby workers.
///
/// Returns one finding for each kind of data and each subscriber, topic, action or queue. Empty if
/// nothing was found. `unavailable` if the server could not be reached. Blocks until the check is
/// complete. Thread safe.
[[nodiscard]] Result<std::vector<RollbackFinding>> check_rollback(const RedisOptions& server,
                                                                  RollbackOptions options = {});

}  // namespace routemaster
