/// @file
/// Calls that another server has to be asked for.

#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "carrier.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "poll_set.hpp"
#include "routemaster/error.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster::redis {

/// While a slot of a cluster is on its way to another server, calls whose keys have left already
/// are sent there one by one, over a connection that is kept as long as there are any.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Errands {
public:
    explicit Errands(LinkContext& context) : context_{context} {}

    /// Takes a call that is to be sent to this server.
    void add(const RedisAddress& address, Pending pending);

    void watch(PollSet& polled) const;
    /// Goes on as far as possible without waiting.
    void work(const PollSet& polled, Instant now);
    /// When to go on at the latest.
    [[nodiscard]] Instant due() const;

    /// Ends all: what a server may have got is in doubt, the rest is to be sent again.
    void lose(const Error& reason);

    [[nodiscard]] Carrier::Yield& yield() noexcept { return yield_; }

private:
    struct Errand {
        RedisAddress address;
        std::unique_ptr<Carrier> carrier;  ///< Made when there is something to carry.
        std::deque<Pending> waiting;       ///< Bounded by the link's `waiting_max`.
        Instant idle_since;
    };

    void work(Errand& errand, const PollSet& polled, Instant now);
    void collect(Errand& errand);

    LinkContext& context_;
    std::vector<Errand> errands_;  ///< As many as there are servers that slots are moved to.
    Carrier::Yield yield_;
};

}  // namespace routemaster::redis
