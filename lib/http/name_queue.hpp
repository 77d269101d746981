/// @file
/// Where deliveries wait for the addresses of their hosts.

#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "http_post.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Requests by the host name that they wait for, each for at most the same time. The callers of
/// `push` bound it.
///
/// Thread safety: one thread.
class NameQueue {
public:
    using Clock = std::chrono::steady_clock;

    explicit NameQueue(Duration timeout) : timeout_{timeout} {}

    /// Queues `request`, which waits from now on.
    void push(const std::string& name, PostRequest request);

    /// Removes the requests that wait for `name`, and returns them, oldest first, with the time
    /// they waited.
    [[nodiscard]] std::vector<PostRequest> take(const std::string& name);

    /// Removes and returns the oldest, with its name, when it has waited too long.
    [[nodiscard]] std::optional<std::pair<std::string, PostRequest>> take_overdue();

    /// When the oldest will have waited too long.
    [[nodiscard]] std::optional<Clock::time_point> due() const;

    /// Removes and returns all requests.
    [[nodiscard]] std::vector<PostRequest> take_all();

private:
    struct Waiting {
        std::string name;
        Clock::time_point since;
        PostRequest request;
    };
    using Place = std::list<Waiting>::iterator;

    const Duration timeout_;
    std::list<Waiting> all_;                           ///< Oldest first.
    std::map<std::string, std::deque<Place>> places_;  ///< By name, oldest first.
};

}  // namespace routemaster::detail
