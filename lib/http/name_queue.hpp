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

/// Submissions by the name that they wait for; each for the same time at most. Bounded by whoever
/// submits.
///
/// Thread safety: one thread.
class NameQueue {
public:
    using Clock = std::chrono::steady_clock;

    explicit NameQueue(Duration timeout) : timeout_{timeout} {}

    /// Lets `request` wait from now on.
    void push(const std::string& name, PostRequest request);

    /// Those that wait for `name`, oldest first, with the time they waited.
    [[nodiscard]] std::vector<PostRequest> take(const std::string& name);

    /// The oldest, with its name, when it has waited for too long.
    [[nodiscard]] std::optional<std::pair<std::string, PostRequest>> take_overdue();

    /// When the oldest will have waited for too long.
    [[nodiscard]] std::optional<Clock::time_point> due() const;

    /// All that wait, which they do no more.
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
