/// @file
/// Notices when the sentinels have promoted another master.

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

/// Watches for a new master. A replaced master may accept calls for ten more seconds before it
/// notices its replacement, and loses all these calls. Therefore the watch listens to one of the
/// sentinels. The watch asks the sentinel for the master after each announcement, and whenever an
/// announcement may have been missed.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class MasterWatch {
public:
    /// `seed` is for the random pauses between attempts to listen.
    MasterWatch(const LinkContext& context, std::uint64_t seed);

    MasterWatch(const MasterWatch&) = delete;
    MasterWatch& operator=(const MasterWatch&) = delete;

    /// Returns the address of the master, if different from `master`. Does nothing without
    /// sentinels.
    [[nodiscard]] std::optional<RedisAddress> work(const RedisAddress& master,
                                                   const PollSet& polled, Instant now);

    /// Asks the sentinel again soon, to check a master just found.
    void check() { stirred_ = listener_ && listener_->is_listening(); }

    /// The sentinel that the watch listens to, or listened to last.
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
    std::size_t next_ = 0;  ///< Index of the sentinel to listen to.
    std::optional<Listener> listener_;
    std::optional<SentinelInquiry> inquiry_;
    bool stirred_ = false;  ///< The sentinel has to be asked.
    Instant pause_until_ = Instant::min();
    std::set<std::string> logged_;  ///< Errors logged since the watch last listened: one line for
                                    ///< each error of a sentinel.
};

}  // namespace routemaster::redis
