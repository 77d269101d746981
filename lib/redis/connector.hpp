/// @file
/// Connects to the server, and retries until a connection is ready.

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

/// Tries the addresses in order, or asks the sentinels in order, until a handshake succeeds. Pauses
/// between rounds, longer each time. Logs each error once.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Connector {
public:
    /// `seed` is for the random pauses.
    Connector(LinkContext& context, std::uint64_t seed);

    /// Starts again: first the redirect of the lost connection, then its address, then the
    /// remaining addresses.
    void begin(const CommandConnection& lost, Instant now);

    /// Further rounds begin with this address, if the options have it.
    void prefer(const RedisAddress& address) { rotation_.prefer(address); }

    /// Returns a ready connection, once there is one. Afterwards does nothing until `begin`.
    [[nodiscard]] std::unique_ptr<CommandConnection> work(const PollSet& polled, Instant now);

    void watch(PollSet& polled) const;
    [[nodiscard]] Instant due() const;

    [[nodiscard]] const Error& last_error() const noexcept { return last_error_; }
    /// Whether a full round failed only with errors that retrying cannot resolve.
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
    Instant pause_until_ = Instant::min();  ///< No round before this.
    bool in_round_ = false;
    std::vector<RedisAddress> first_;  ///< Addresses to be tried before the seeds.
    std::unique_ptr<SentinelInquiry> inquiry_;
    std::unique_ptr<CommandConnection> candidate_;
    Instant connected_at_ = Instant::min();
    int redirects_in_a_row_ = 0;    ///< In quick succession.
    std::set<std::string> logged_;  ///< Errors logged since the last success.
    Error last_error_{Errc::unavailable, "not connected yet"};
    bool all_invalid_ = true;  ///< In this round.
    bool permanent_failure_ = false;
};

}  // namespace routemaster::redis
