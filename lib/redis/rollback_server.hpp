/// @file
/// `RollbackServer`: requests of `check_rollback` that are not steps of a store.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "call.hpp"
#include "link.hpp"
#include "routemaster/store/redis.hpp"
#include "script.hpp"

namespace routemaster::redis {

/// Client that runs scripts to read keys page by page. All members block, and throw `Failure`.
///
/// Thread safety: one thread at a time.
class RollbackServer {
public:
    struct Batch {
        std::string uid;
        std::string subscriber;  ///< Empty if the batch no longer exists.
        bool is_set_aside = false;
        std::vector<std::string> messages;
    };
    /// Numbers of objects that Ruby processes do not see.
    struct Counts {
        std::uint64_t blocked = 0;
        std::uint64_t elsewhere = 0;  ///< Deliveries to callbacks, or hidden from Ruby.
        std::uint64_t dead = 0;
        std::uint64_t aux = 0;  ///< Jobs of the queue `aux` that are hidden from Ruby workers.
    };

    explicit RollbackServer(const RedisOptions& options);

    [[nodiscard]] Counts counts();
    [[nodiscard]] std::uint64_t groups(const std::vector<std::string>& tokens);
    /// Calls `each` with the entries of a set, sorted set or list. An entry may be passed twice.
    void each_entry(const std::string& key, const std::function<void(std::string_view)>& each);
    void each_queued_batch(const std::function<void(const Batch&)>& each);
    void each_dead_batch(const std::function<void(const Batch&)>& each);
    void set_aside(const std::vector<std::string>& batches);

private:
    [[nodiscard]] Arguments on(std::string_view key) const;
    ServerReply run(const Script& script, Arguments arguments);
    void each_batch(const std::string& index, std::string_view list, int before,
                    const std::function<void(const Batch&)>& each);

    const std::string prefix_;
    Link link_;
};

}  // namespace routemaster::redis
