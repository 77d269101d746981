/// @file
/// Looks for the server until it is found.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backoff.hpp"
#include "carrier.hpp"
#include "instant.hpp"
#include "itinerary.hpp"
#include "link_context.hpp"
#include "poll_set.hpp"
#include "routemaster/error.hpp"
#include "sentinel_inquiry.hpp"

namespace routemaster::redis {

/// Goes round the addresses, or asks the sentinels in turn, until a server shakes hands. Pauses
/// between rounds, longer and longer. Says in the log what is in the way, each thing once.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Search {
public:
    /// `seed` is for the pauses.
    Search(LinkContext& context, std::uint64_t seed);

    /// Looks where the carrier that was lost points to, then where it was, then elsewhere.
    void begin(const Carrier& lost, Instant now);

    /// Further rounds begin with this address, if it is one of those in the options.
    void prefer(const RedisAddress& address) { itinerary_.prefer(address); }

    /// A carrier that is ready, once there is one: the search is over.
    [[nodiscard]] std::unique_ptr<Carrier> work(const PollSet& polled, Instant now);

    void watch(PollSet& polled) const;
    /// When to go on at the latest.
    [[nodiscard]] Instant due() const;

    /// What was last in the way.
    [[nodiscard]] const Error& obstacle() const noexcept { return obstacle_; }
    /// Whether a whole round met with nothing but what no patience will change.
    [[nodiscard]] bool is_hopeless() const noexcept { return hopeless_; }

private:
    [[nodiscard]] bool has_sentinels() const;
    void begin_round();
    void try_next(Instant now);
    void failed(const RedisAddress& address, const Error& reason, Instant now);
    [[nodiscard]] std::unique_ptr<Carrier> found(Instant now);

    LinkContext& context_;
    Itinerary itinerary_;
    Backoff backoff_;
    bool searching_ = true;
    Instant pause_until_ = Instant::min();  ///< No round before that.
    bool under_way_ = false;                ///< A round has begun.
    std::vector<RedisAddress> first_;       ///< To be tried before the seeds.
    std::unique_ptr<SentinelInquiry> inquiry_;
    std::unique_ptr<Carrier> candidate_;
    Instant found_at_ = Instant::min();
    int moves_ = 0;                 ///< From server to server in quick succession.
    std::set<std::string> logged_;  ///< Since the last success.
    Error obstacle_{Errc::unavailable, "not connected yet"};
    bool all_invalid_ = true;  ///< In this round.
    bool hopeless_ = false;
};

}  // namespace routemaster::redis
