/// @file
/// Notices when the sentinels have appointed another master.

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

/// A master that was replaced may take calls for ten more seconds before it is told, and all of
/// them will be lost. So one of the sentinels is listened to, and asked whenever it speaks of a new
/// master or may have done so unheard.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class MasterWatch {
public:
    /// `seed` is for the pauses between attempts to listen.
    MasterWatch(const LinkContext& context, std::uint64_t seed);

    MasterWatch(const MasterWatch&) = delete;
    MasterWatch& operator=(const MasterWatch&) = delete;

    /// Goes on as far as possible without waiting. The master's address when it is not `master`.
    /// Does nothing when there are no sentinels.
    [[nodiscard]] std::optional<RedisAddress> work(const RedisAddress& master,
                                                   const PollSet& polled, Instant now);

    /// Asks again at the next occasion: whether a master that was just found is the right one.
    void check() { stirred_ = listener_ && listener_->is_listening(); }

    /// Who is listened to, or was last.
    [[nodiscard]] const RedisAddress& sentinel() const;

    void watch(PollSet& polled) const;
    /// When to go on at the latest.
    [[nodiscard]] Instant due() const;

private:
    void listen(Instant now);
    void failed(const RedisAddress& sentinel, const Error& reason, Instant now);
    [[nodiscard]] std::optional<RedisAddress> ask(const PollSet& polled, Instant now);

    const LinkContext& context_;
    Channel channel_;
    Backoff backoff_;
    std::size_t next_ = 0;  ///< Which sentinel to listen to.
    std::optional<Listener> listener_;
    std::optional<SentinelInquiry> inquiry_;
    bool stirred_ = false;  ///< The sentinel has to be asked.
    Instant pause_until_ = Instant::min();
    std::set<std::string> logged_;  ///< Since it last listened; a line for each sentinel's trouble.
};

}  // namespace routemaster::redis
