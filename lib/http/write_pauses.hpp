/// @file
/// `WritePauses`: limits how often a socket is reported writable without effect.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "socket_watch.hpp"

namespace routemaster::detail {

/// Over HTTP/2, libcurl watches a socket for writability although the peer's window is closed, and
/// then sends nothing. epoll would report the socket tens of thousands of times a second. After
/// `reports_max` reports between which no byte was sent or received, the socket is watched only for
/// data from the peer, for `pause`. Afterwards one report without effect suffices for the next
/// pause.
///
/// Thread safety: one thread.
class WritePauses {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr int reports_max = 100;
    static constexpr std::chrono::milliseconds pause{50};

    /// `watch` must outlive this object.
    explicit WritePauses(const SocketWatch& watch) : watch_{watch} {}

    /// Must be called when libcurl changes the events for which it watches `socket`. Ends a pause.
    void changed(int socket, bool both_directions);

    /// Must be called for each report that `socket` is writable. May begin a pause.
    void writable(int socket);

    /// Ends the pauses that are over.
    void advance();

    /// When to call `advance` at the latest, if a pause has begun.
    [[nodiscard]] std::optional<Clock::time_point> due() const {
        if (ends_.empty()) return std::nullopt;
        return ends_.front().first;
    }

private:
    struct Reports {
        int count = 0;            ///< Since the last transfer of a byte.
        std::uint64_t bytes = 0;  ///< Sent and received in total.
        bool paused = false;
    };

    const SocketWatch& watch_;
    std::unordered_map<int, Reports> sockets_;  ///< Watched for both directions.
    std::deque<std::pair<Clock::time_point, int>> ends_;
};

}  // namespace routemaster::detail
