/// @file
/// `AddressRotation`: the order in which server addresses are tried.

#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "routemaster/store/redis.hpp"

namespace routemaster::redis {

/// Iterator over server addresses, in rounds. Addresses suggested during a round are tried before
/// the rest. No address is tried twice in a round.
///
/// Thread safety: one thread.
class AddressRotation {
public:
    explicit AddressRotation(std::vector<RedisAddress> seeds) : seeds_{std::move(seeds)} {}

    /// Begins a round: first the addresses in `first`, then the seeds, beginning with the preferred
    /// seed.
    void begin(std::vector<RedisAddress> first) {
        tried_.clear();
        suggested_ = 0;
        ahead_.assign(std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
        for (std::size_t i = 0; i < seeds_.size(); ++i) {
            ahead_.push_back(seeds_[(first_seed_ + i) % seeds_.size()]);
        }
    }

    /// Makes later rounds begin with this address, if it is a seed.
    void prefer(const RedisAddress& seed) {
        const auto at = std::find(seeds_.begin(), seeds_.end(), seed);
        if (at != seeds_.end()) first_seed_ = static_cast<std::size_t>(at - seeds_.begin());
    }

    /// Adds an address that a server or sentinel named. At most `suggestions_max` per round are
    /// tried.
    void suggest(RedisAddress address) {
        if (suggested_++ < suggestions_max) ahead_.push_front(std::move(address));
    }

    /// The next address to try. Nothing at the end of the round.
    [[nodiscard]] std::optional<RedisAddress> next() {
        while (!ahead_.empty()) {
            auto address = std::move(ahead_.front());
            ahead_.pop_front();
            if (std::find(tried_.begin(), tried_.end(), address) != tried_.end()) continue;
            tried_.push_back(address);
            return address;
        }
        return std::nullopt;
    }

private:
    static constexpr int suggestions_max = 5;

    std::vector<RedisAddress> seeds_;
    std::size_t first_seed_ = 0;
    std::deque<RedisAddress> ahead_;
    std::vector<RedisAddress> tried_;
    int suggested_ = 0;
};

}  // namespace routemaster::redis
