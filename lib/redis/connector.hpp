/// @file
/// Connects to the server, retrying until it succeeds.

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

/// Tries the addresses in turn, or asks the sentinels in turn, until a handshake succeeds. Pauses
/// between rounds, longer each time. Logs each error once.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Connector {
public:
    /// `seed` is for the random pauses.
    Connector(LinkContext& context, std::uint64_t seed);

    /// Starts again: with the redirect of the lost connection, then its address, then the others.
    void begin(const CommandConnection& lost, Instant now);

    /// Further rounds begin with this address, if it is one of those in the options.
    void prefer(const RedisAddress& address) { rotation_.prefer(address); }

    /// A ready connection, once there is one; after that it does nothing until `begin`.
    [[nodiscard]] std::unique_ptr<CommandConnection> work(const PollSet& polled, Instant now);

    void watch(PollSet& polled) const;
    /// When to call `work` at the latest.
    [[nodiscard]] Instant due() const;

    /// Why the last attempt failed.
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
    std::vector<RedisAddress> first_;  ///< To be tried before the seeds.
    std::unique_ptr<SentinelInquiry> inquiry_;
    std::unique_ptr<CommandConnection> candidate_;
    Instant connected_at_ = Instant::min();
    int redirects_in_a_row_ = 0;    ///< In quick succession.
    std::set<std::string> logged_;  ///< Since the last success.
    Error last_error_{Errc::unavailable, "not connected yet"};
    bool all_invalid_ = true;  ///< In this round.
    bool permanent_failure_ = false;
};

}  // namespace routemaster::redis
