#include "components/descriptor_shares.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <thread>

#include "routemaster/error.hpp"

namespace routemaster::service {
namespace {

/// Descriptors for the standard streams, the log, and the store: its file, write-ahead log and
/// backup, or its connections to a Redis server, sentinels and replicas.
constexpr std::uint64_t process_reserve = 64;

/// Descriptors per event loop of the HTTP server. There is one loop per processor.
constexpr std::uint64_t each_processor = 2;

/// Descriptors for name lookups: 32 threads with one socket each.
constexpr std::uint64_t lookup_reserve = 32;

/// Descriptors per delivery: its socket, and one for an idle connection or for a second
/// address.
constexpr std::uint64_t each_delivery = 2;

/// Descriptors per command: input, output, guard and stop event, and three further ends of pipes
/// while the command starts.
constexpr std::uint64_t each_command = 7;

/// Minimum shares. With fewer descriptors, a service would start but reject nearly all clients.
constexpr std::uint64_t connections_min = 32;
constexpr std::uint64_t deliveries_min = 16;

std::uint64_t reserve_of(const DescriptorShares& wanted) {
    const auto loops = wanted.connections > 0 ? std::thread::hardware_concurrency() : 0;
    return process_reserve + loops * each_processor + (wanted.deliveries > 0 ? lookup_reserve : 0) +
           wanted.commands * each_command;
}

std::string limit_text(std::uint64_t limit) {
    return "the limit of open files, " + std::to_string(limit) + ",";
}

constexpr auto remedy = "; raise it with `ulimit -Hn`, or LimitNOFILE= of systemd";

/// Raises the soft limit of open files to the hard limit. The low soft limit exists only for
/// programs that use select().
std::uint64_t raise_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return RLIM_INFINITY;
    const auto before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

}  // namespace

DescriptorShares shares_of(std::uint64_t limit, const DescriptorShares& wanted) {
    const std::uint64_t connections = wanted.connections;
    const auto deliveries = wanted.deliveries * each_delivery;
    const auto reserve = reserve_of(wanted);
    const auto least = std::min(deliveries, deliveries_min * each_delivery);
    const auto needed = reserve + std::min(connections, connections_min) + least;
    if (limit < needed) {
        throw Failure{{Errc::unavailable, limit_text(limit) + " is less than the " +
                                              std::to_string(needed) + " that these settings need" +
                                              remedy}};
    }
    const auto rest = limit - reserve;
    const auto beside_connections = rest - std::min(rest, connections);
    const auto most = std::max({rest / 2, beside_connections, least});
    const auto for_deliveries = std::min(deliveries, most);
    auto shares = wanted;
    shares.deliveries = static_cast<std::uint32_t>(for_deliveries / each_delivery);
    shares.connections = static_cast<unsigned>(std::min(connections, rest - for_deliveries));
    return shares;
}

DescriptorShares claim_descriptors(const DescriptorShares& wanted, const Log& log) {
    const auto limit = raise_limit();
    const auto shares = shares_of(limit, wanted);
    std::string cut;
    const auto note = [&cut](const char* setting, std::uint64_t allowed, std::uint64_t asked) {
        if (allowed == asked) return;
        cut.append(cut.empty() ? "" : ", and ");
        cut.append(setting).append(" from ").append(std::to_string(asked));
        cut.append(" to ").append(std::to_string(allowed));
    };
    note("--connections-max", shares.connections, wanted.connections);
    note("--deliveries-max", shares.deliveries, wanted.deliveries);
    if (!cut.empty()) {
        log(LogLevel::warning, limit_text(limit) + " cuts " + cut + remedy);
    }
    return shares;
}

}  // namespace routemaster::service
