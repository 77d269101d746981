/// @file
/// Node processes that use dtimer, beside ours.

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

/// Whether Node and its packages are there. Installs those that tests/node/package-lock.json names
/// into the build folder when they are missing. Without npm, or its registry, it says so, and
/// whoever asks has to leave its test out.
[[nodiscard]] bool has_node();

/// How a peer listens.
struct NodeSettings {
    std::string id{};  ///< Empty: it only posts.
    std::string space = "dt";
    bool confirms = false;
    int confirm_seconds = 10;
    int events_max = 8;
};

/// An event that a peer got.
struct NodeEvent {
    Value event{};
    TimePoint at{};  ///< By the clock of this machine.

    [[nodiscard]] std::string id() const;
};

/// A process of Node that runs tests/node/peer.mjs. Its destructor kills it.
///
/// Thread safety: one thread.
class NodePeer {
public:
    /// Starts it, and waits until it listens.
    NodePeer(const RedisServer& server, NodeSettings settings);

    /// Has dtimer do something, as in `call("cancel", R"(["a"])")`, and waits for what it replies.
    /// Throws when it fails.
    Value call(const std::string& what, const std::string& words = "[]");

    /// The next event, which must come within 30 s.
    NodeEvent event();
    /// The next of those that stood before the last reply; nothing when there is none.
    std::optional<NodeEvent> event_so_far();

    /// Kills it as at a power cut.
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
