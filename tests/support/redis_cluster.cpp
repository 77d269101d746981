#include "support/redis_cluster.hpp"

#include <algorithm>
#include <stdexcept>

#include "support/await.hpp"
#include "support/free_port.hpp"

namespace routemaster::test {

namespace {

constexpr std::size_t slots = 16'384;

}  // namespace

RedisCluster::RedisCluster(std::size_t masters, bool replicas) {
    const auto count = replicas ? 2 * masters : masters;
    // With replicas a short timeout makes the replicas take over soon. Without replicas a long
    // timeout keeps slow nodes from being declared dead on a busy machine.
    const char* node_timeout = replicas ? "1000" : "60000";
    for (std::size_t i = 0; i < count; ++i) {
        // The default port of the cluster bus is 10,000 higher, and may be in use by a connecting
        // socket.
        nodes_.push_back(std::make_unique<RedisServer>(std::vector<std::string>{
            "--cluster-enabled", "yes", "--cluster-node-timeout", node_timeout, "--cluster-port",
            std::to_string(free_port()), "--repl-diskless-sync-delay", "0",
            "--cluster-require-full-coverage", "no", "--cluster-config-file", "nodes.conf"}));
    }
    for (std::size_t i = 0; i < count; ++i) {
        auto& node = *nodes_[i];
        node.command({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
        if (i < masters) {
            node.command({"CLUSTER", "ADDSLOTSRANGE", std::to_string(i * slots / masters),
                          std::to_string((i + 1) * slots / masters - 1)});
        }
        if (i > 0) {
            const auto bus = redis_command(nodes_[0]->address(), {"CONFIG", "GET", "cluster-port"});
            node.command({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[0]->port()),
                          bus.list.at(1).text});
        }
    }
    await_health();
    for (std::size_t i = masters; i < count; ++i) {
        nodes_[i]->command({"CLUSTER", "REPLICATE", id_of(i - masters)});
    }
    for (std::size_t i = masters; i < count; ++i) {
        const bool linked = await([&] { return nodes_[i]->info("master_link_status") == "up"; });
        if (!linked) throw std::runtime_error{"a replica does not follow its master"};
    }
    await_health();
}

std::string RedisCluster::id_of(std::size_t index) const {
    return nodes_[index]->command({"CLUSTER", "MYID"}).text;
}

void RedisCluster::await_health() const {
    for (const auto& node : nodes_) {
        const bool healthy = await([&] {
            const auto info = node->command({"CLUSTER", "INFO"}).text;
            return redis_info(info, "cluster_state") == "ok" &&
                   redis_info(info, "cluster_known_nodes") == std::to_string(nodes_.size()) &&
                   redis_info(info, "cluster_slots_ok") == std::to_string(slots);
        });
        if (!healthy) throw std::runtime_error{"the cluster does not come about"};
    }
}

std::uint16_t RedisCluster::slot_of(const RedisServer& node, const std::string& key) {
    return static_cast<std::uint16_t>(node.command({"CLUSTER", "KEYSLOT", key}).number);
}

std::size_t RedisCluster::owner(const std::string& key) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        try {
            nodes_[i]->command({"TYPE", key});
            if (nodes_[i]->command({"ROLE"}).list.at(0).text == "master") return i;
        } catch (const RedisFailure&) {
            continue;
        }
    }
    throw std::runtime_error{"nobody serves the slot of " + key};
}

void RedisCluster::begin_move(const std::string& key, std::size_t from, std::size_t to) {
    const auto slot = std::to_string(slot_of(node(from), key));
    node(to).command({"CLUSTER", "SETSLOT", slot, "IMPORTING", id_of(from)});
    node(from).command({"CLUSTER", "SETSLOT", slot, "MIGRATING", id_of(to)});
}

void RedisCluster::move_key(const std::string& key, std::size_t from, std::size_t to) {
    node(from).command({"MIGRATE", "127.0.0.1", std::to_string(node(to).port()), key, "0", "5000"});
}

void RedisCluster::end_move(const std::string& key, std::size_t to) {
    const auto slot = std::to_string(slot_of(node(to), key));
    const auto id = id_of(to);
    node(to).command({"CLUSTER", "SETSLOT", slot, "NODE", id});
    for (const auto& each : nodes_) {
        if (each.get() == &node(to)) continue;
        if (each->command({"ROLE"}).list.at(0).text != "master") continue;
        each->command({"CLUSTER", "SETSLOT", slot, "NODE", id});
    }
}

}  // namespace routemaster::test
