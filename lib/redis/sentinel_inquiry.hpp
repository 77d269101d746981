/// @file
/// `SentinelInquiry`: asks a sentinel for the address of the master.

#pragma once

#include <optional>

#include "connection.hpp"
#include "handshake.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "poll_set.hpp"
#include "routemaster/result.hpp"

namespace routemaster::redis {

/// Request to a sentinel, on a separate connection. If the sentinel requires a password, the
/// password of the servers is sent.
///
/// Thread safety: one thread, with SIGPIPE blocked.
class SentinelInquiry {
public:
    SentinelInquiry(const RedisAddress& sentinel, const LinkContext& context, Instant now);

    [[nodiscard]] const RedisAddress& sentinel() const noexcept { return connection_.address(); }

    /// Continues the request. Returns the address of the master, or an error; nothing while the
    /// reply is outstanding.
    [[nodiscard]] std::optional<Result<RedisAddress>> work(const PollSet& polled, Instant now);

    void watch(PollSet& polled) const { connection_.watch(polled); }
    [[nodiscard]] Instant due() const;

private:
    void ask(Instant now);
    void got(const redisReply& reply);

    const LinkContext& context_;
    Connection connection_;
    Handshake handshake_;
    bool agreed_ = false;
    Instant deadline_ = no_instant;  ///< Deadline for the reply, set when the request was sent.
    std::optional<Result<RedisAddress>> outcome_;
};

}  // namespace routemaster::redis
