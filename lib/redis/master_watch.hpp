/// @file
/// `MasterWatch`: detects that the sentinels have promoted another master.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "backoff.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "listener.hpp"
#include "poll_set.hpp"
#include "routemaster/store/redis.hpp"
#include "sentinel_inquiry.hpp"

namespace routemaster::redis {

/// Watch for a failover. A replaced master may accept calls for ten more seconds before learning of
/// its replacement, and then loses all these calls. The watch therefore subscribes to the
/// announcements of a sentinel. The watch asks the sentinel for the master after each announcement,
/// and whenever an announcement may have been missed.
///
/// Thread safety: one thread, with SIGPIPE blocked.
class MasterWatch {
public:
    MasterWatch(const LinkContext& context, std::uint64_t seed);

    MasterWatch(const MasterWatch&) = delete;
    MasterWatch& operator=(const MasterWatch&) = delete;

    /// Returns the address of the master if it differs from `master`. Does nothing without
    /// sentinels.
    [[nodiscard]] std::optional<RedisAddress> work(const RedisAddress& master,
                                                   const PollSet& polled, Instant now);

    /// Asks the sentinel again soon, to verify a master that was just found.
    void check() { stirred_ = listener_ && listener_->is_listening(); }

    /// The sentinel to which the watch is subscribed, or was last.
    [[nodiscard]] const RedisAddress& sentinel() const;

    void watch(PollSet& polled) const;
    [[nodiscard]] Instant due() const;

private:
    void listen(Instant now);
    void failed(const RedisAddress& sentinel, const Error& reason, Instant now);
    [[nodiscard]] std::optional<RedisAddress> ask(const PollSet& polled, Instant now);

    const LinkContext& context_;
    Channel channel_;
    Backoff backoff_;
    std::size_t next_ = 0;
    std::optional<Listener> listener_;
    std::optional<SentinelInquiry> inquiry_;
    bool stirred_ = false;  ///< The sentinel must be asked for the master.
    Instant pause_until_ = Instant::min();
    std::set<std::string> logged_;  ///< Since the last subscription; one line per error.
};

}  // namespace routemaster::redis
