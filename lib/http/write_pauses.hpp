/// @file
/// `WritePauses`: limits spurious reports that a socket is writable.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "socket_watch.hpp"

namespace routemaster::detail {

/// Filter for spurious writability over HTTP/2. While the peer's window is closed, libcurl still
/// watches the socket for writability, and then sends nothing. epoll would report the socket tens
/// of thousands of times a second. After `reports_max` reports without a byte sent or received, the
/// socket is watched only for incoming data, for the duration `pause`. Afterwards a single spurious
/// report begins the next pause.
///
/// Thread safety: one thread.
class WritePauses {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr int reports_max = 100;
    static constexpr std::chrono::milliseconds pause{50};

    /// `watch` must outlive this object.
    explicit WritePauses(const SocketWatch& watch) : watch_{watch} {}

    /// Must be called when libcurl changes the events for which it watches `socket`. Cancels a
    /// pause.
    void changed(int socket, bool both_directions);

    /// Must be called for each report that `socket` is writable. May begin a pause.
    void writable(int socket);

    void advance();

    /// When `advance` must be called at the latest, if there is a pause.
    [[nodiscard]] std::optional<Clock::time_point> due() const {
        if (ends_.empty()) return std::nullopt;
        return ends_.front().first;
    }

private:
    struct Reports {
        int count = 0;  ///< Reports since a byte was sent or received.
        std::uint64_t bytes = 0;
        bool paused = false;
    };

    const SocketWatch& watch_;
    /// The sockets that are watched in both directions.
    std::unordered_map<int, Reports> sockets_;
    std::deque<std::pair<Clock::time_point, int>> ends_;
};

}  // namespace routemaster::detail
