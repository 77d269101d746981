/// @file
/// `Connector`: connects to the server, and retries until a connection is ready.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "address_rotation.hpp"
#include "backoff.hpp"
#include "command_connection.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "poll_set.hpp"
#include "routemaster/error.hpp"
#include "sentinel_inquiry.hpp"

namespace routemaster::redis {

/// Retry loop for connecting. Tries the addresses in order, or asks the sentinels in order for the
/// master, until a handshake succeeds. The delays between rounds grow. Each error is logged once.
///
/// Thread safety: one thread, with SIGPIPE blocked.
class Connector {
public:
    Connector(LinkContext& context, std::uint64_t seed);

    /// Begins to connect again: first to the server to which the lost connection was redirected,
    /// then to the server of the lost connection, then to the other addresses.
    void begin(const CommandConnection& lost, Instant now);

    void prefer(const RedisAddress& address) { rotation_.prefer(address); }

    /// Continues to connect. Returns the connection once it is ready, and then does nothing until
    /// `begin`.
    [[nodiscard]] std::unique_ptr<CommandConnection> work(const PollSet& polled, Instant now);

    void watch(PollSet& polled) const;
    [[nodiscard]] Instant due() const;

    [[nodiscard]] const Error& last_error() const noexcept { return last_error_; }
    /// Whether all addresses of a round failed with errors that retrying cannot resolve.
    [[nodiscard]] bool is_permanent_failure() const noexcept { return permanent_failure_; }

private:
    [[nodiscard]] bool has_sentinels() const;
    void begin_round();
    void try_next(Instant now);
    void try_address(const RedisAddress& address, Instant now);
    void failed(const RedisAddress& address, const Error& reason, Instant now);
    [[nodiscard]] std::unique_ptr<CommandConnection> connected(Instant now);

    LinkContext& context_;
    AddressRotation rotation_;
    Backoff backoff_;
    bool connecting_ = true;
    Instant pause_until_ = Instant::min();
    bool in_round_ = false;
    std::vector<RedisAddress> first_;
    std::unique_ptr<SentinelInquiry> inquiry_;
    std::unique_ptr<CommandConnection> candidate_;
    Instant connected_at_ = Instant::min();
    int redirects_in_a_row_ = 0;
    std::set<std::string> logged_;  ///< Errors logged since the last success.
    Error last_error_{Errc::unavailable, "not connected yet"};
    bool all_invalid_ = true;  ///< All errors of this round are `invalid`.
    bool permanent_failure_ = false;
};

}  // namespace routemaster::redis
