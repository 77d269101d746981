/// @file
/// `Dial`: opens a stream to an address.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/system/waker.hpp"
#include "instant.hpp"
#include "lookup.hpp"
#include "poll_set.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/time.hpp"
#include "stream.hpp"
#include "tls.hpp"

namespace routemaster::redis {

struct DialOptions {
    /// Limit for the name lookup, and for the handshake after connecting. The TLS handshake alone
    /// may take half of this time.
    Duration timeout{5'000};
    std::shared_ptr<const Tls> tls{};        ///< Null: no TLS.
    std::shared_ptr<detail::Waker> waker{};  ///< Woken when the name lookup has ended.
};

/// Attempt to open a stream: it looks up the host name, tries the addresses in order, and performs
/// the TLS handshake.
class Dial {
public:
    Dial(RedisAddress address, const DialOptions& options, Instant now);

    void watch(PollSet& polled) const;

    /// Continues the attempt. Returns the open stream or an error; nothing while the attempt waits.
    [[nodiscard]] std::optional<Result<std::unique_ptr<Stream>>> work(const PollSet& polled,
                                                                      Instant now);

    [[nodiscard]] Instant due() const {
        return lookup_ && lookup_->result() ? Instant::min() : deadline_;
    }

private:
    using Outcome = std::optional<Result<std::unique_ptr<Stream>>>;

    [[nodiscard]] Outcome try_next(Instant now);
    [[nodiscard]] Outcome go_on(Instant now);
    [[nodiscard]] Outcome give_up(std::string why, Instant now);

    RedisAddress address_;
    DialOptions options_;
    Instant deadline_;  ///< Deadline of the current phase.
    std::optional<Lookup> lookup_;
    std::vector<SocketAddress> candidates_;
    std::size_t next_ = 0;
    std::string why_;  ///< Why the last address failed.
    std::optional<Socket> socket_;
    std::unique_ptr<Stream> stream_;
};

}  // namespace routemaster::redis
