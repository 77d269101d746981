/// @file
/// Checks whether a bus on a Redis server can move back to Ruby Routemaster.

#pragma once

#include <string>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster {

/// Something on the server that Ruby processes cannot read, or never look at.
struct RollbackFinding {
    /// Whether it stands in the way: a Ruby process would end at it or mistake it, or something
    /// that was published would not be delivered. Else the thing only stays on the server.
    bool in_the_way = true;
    std::string what;    ///< One line. Of a token it names the public part.
    std::string remedy;  ///< What to do about it, in one line.
};

/// What `check_rollback` may do beside looking.
struct RollbackOptions {
    /// Batches with events that no Ruby worker can read, which a version that did not yet keep such
    /// batches away from Ruby workers began, are set aside: only workers of ours deliver them.
    bool set_aside = false;
};

/// Looks for what stands in the way of a move back to Ruby Routemaster; docs/scaling.md has the
/// steps. Reads all queued events, in pages, while the bus goes on. `server.event_data_max` is what
/// the Ruby workers are set to.
///
/// Returns one finding of each kind and subscriber, topic, action or queue; none when nothing was
/// found. `unavailable` when the server could not be reached. Blocks until it is done. Thread safe.
[[nodiscard]] Result<std::vector<RollbackFinding>> check_rollback(const RedisOptions& server,
                                                                  RollbackOptions options = {});

}  // namespace routemaster
