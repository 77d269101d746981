/// @file
/// `RedisCluster`: a real Redis Cluster on this machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace routemaster::test {

/// Masters with equal numbers of slots, each with an optional replica. A replica replaces its
/// master after one second without a reply.
class RedisCluster {
public:
    /// Starts the cluster and waits until each node reports a healthy cluster.
    explicit RedisCluster(std::size_t masters, bool replicas = false);

    /// The nodes: the masters, then their replicas in the same order.
    [[nodiscard]] RedisServer& node(std::size_t index) { return *nodes_.at(index); }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

    [[nodiscard]] static std::uint16_t slot_of(const RedisServer& node, const std::string& key);
    /// The master of a key's slot. Throws when the slot has no master.
    [[nodiscard]] std::size_t owner(const std::string& key) const;

    /// Starts to move the slot of a key. From then on a key of the slot may be on either node.
    void begin_move(const std::string& key, std::size_t from, std::size_t to);
    /// Moves one key of the slot.
    void move_key(const std::string& key, std::size_t from, std::size_t to);
    /// Ends the move of the slot. All its keys must have been moved.
    void end_move(const std::string& key, std::size_t to);

private:
    [[nodiscard]] std::string id_of(std::size_t index) const;
    void await_health() const;

    std::vector<std::unique_ptr<RedisServer>> nodes_;
};

}  // namespace routemaster::test
