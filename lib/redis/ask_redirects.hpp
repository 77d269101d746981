/// @file
/// Calls that the server redirected with ASK.

#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "command_connection.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "poll_set.hpp"
#include "routemaster/error.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster::redis {

/// While a slot of a cluster is moved, the server that gives it away redirects calls whose keys are
/// gone already. Each is sent to the importing server, this once, over a connection that is kept
/// for as long as there are such calls.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class AskRedirects {
public:
    explicit AskRedirects(LinkContext& context) : context_{context} {}

    /// Takes a call that is to be sent to this server.
    void add(const RedisAddress& address, PendingCall pending);

    void watch(PollSet& polled) const;
    /// Goes on as far as possible without waiting.
    void work(const PollSet& polled, Instant now);
    /// When to go on at the latest.
    [[nodiscard]] Instant due() const;

    /// Ends all: what a server may have got is in doubt, the rest is to be sent again.
    void lose(const Error& reason);

    [[nodiscard]] CommandConnection::Output& output() noexcept { return output_; }

private:
    /// A server that imports slots.
    struct Target {
        RedisAddress address;
        std::unique_ptr<CommandConnection> connection;  ///< Made when there is something to send.
        std::deque<PendingCall> waiting;                ///< Bounded by the link's `waiting_max`.
        Instant idle_since;
    };

    void work(Target& target, const PollSet& polled, Instant now);
    void collect(Target& target);

    LinkContext& context_;
    std::vector<Target> targets_;
    CommandConnection::Output output_;
};

}  // namespace routemaster::redis
