/// @file
/// `NodePeer`: Node processes with dtimer, on the same Redis as routemaster's processes.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "routemaster/time.hpp"
#include "routemaster/value.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"

namespace routemaster::test {

/// Whether Node and its packages are available. Installs missing packages of
/// tests/node/package-lock.json into the build folder. Without npm or its registry, prints a
/// message and returns false; the test must then be skipped.
[[nodiscard]] bool has_node();

/// The options of a peer.
struct NodeSettings {
    std::string id{};  ///< Empty for a peer that only posts.
    std::string space = "dt";
    bool confirms = false;
    int confirm_seconds = 10;
    int events_max = 8;
};

/// An event that a peer received.
struct NodeEvent {
    Value event{};
    TimePoint at{};  ///< By the clock of this machine.

    [[nodiscard]] std::string id() const;
};

/// A Node process, which runs tests/node/peer.mjs. Its destructor kills the process.
///
/// Thread safety: one thread.
class NodePeer {
public:
    /// Starts the process, and waits until it listens.
    NodePeer(const RedisServer& server, NodeSettings settings);

    /// Calls a function of dtimer, as in `call("cancel", R"(["a"])")`, and returns its reply.
    /// Throws when the function fails.
    Value call(const std::string& what, const std::string& words = "[]");

    /// Waits up to 30 s for the next event.
    NodeEvent event();
    /// The next event before the last reply; nothing when there is none.
    std::optional<NodeEvent> event_so_far();

    /// Kills the process, as a power cut does.
    void kill();
    void freeze() const { process_.signal(SIGSTOP); }
    void thaw() const { process_.signal(SIGCONT); }

private:
    Value line();

    const RedisServer& server_;
    NodeSettings settings_;
    Process process_;
    std::deque<NodeEvent> events_;
};

}  // namespace routemaster::test
