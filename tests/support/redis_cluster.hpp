/// @file
/// A real Redis Cluster on this machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace routemaster::test {

/// Masters that share the slots evenly, each with an optional replica. A master that is gone for
/// one second is replaced.
class RedisCluster {
public:
    /// Starts it and waits until every node reports a healthy cluster.
    explicit RedisCluster(std::size_t masters, bool replicas = false);

    /// The nodes: the masters, then a replica of each in the same order.
    [[nodiscard]] RedisServer& node(std::size_t index) { return *nodes_.at(index); }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

    [[nodiscard]] static std::uint16_t slot_of(const RedisServer& node, const std::string& key);
    /// The master that serves the slot of this key; throws when none does.
    [[nodiscard]] std::size_t owner(const std::string& key) const;

    /// Begins to move the slot of the key: from then on its keys may be on either node.
    void begin_move(const std::string& key, std::size_t from, std::size_t to);
    /// Moves one key of the slot.
    void move_key(const std::string& key, std::size_t from, std::size_t to);
    /// Ends the move of the slot; all its keys must have been moved.
    void end_move(const std::string& key, std::size_t to);

private:
    [[nodiscard]] std::string id_of(std::size_t index) const;
    void await_health() const;

    std::vector<std::unique_ptr<RedisServer>> nodes_;
};

}  // namespace routemaster::test
