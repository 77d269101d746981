/// @file
/// `NameQueue`: requests that wait for the lookup of their hosts.

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

/// Queue of requests that wait for the lookup of their hosts, indexed by host name. All requests
/// have an equal timeout. The callers of `push` bound the number of requests.
///
/// Thread safety: one thread.
class NameQueue {
public:
    using Clock = std::chrono::steady_clock;

    explicit NameQueue(Duration timeout) : timeout_{timeout} {}

    void push(const std::string& name, PostRequest request);

    /// Removes and returns the requests for `name`, oldest first. Sets `has_waited` of each to its
    /// time in the queue.
    [[nodiscard]] std::vector<PostRequest> take(const std::string& name);

    /// Removes and returns the oldest request, with its host name, if its timeout has passed.
    [[nodiscard]] std::optional<std::pair<std::string, PostRequest>> take_overdue();

    [[nodiscard]] std::optional<Clock::time_point> due() const;

    [[nodiscard]] std::vector<PostRequest> take_all();

private:
    struct Waiting {
        std::string name;
        Clock::time_point since;
        PostRequest request;
    };
    using Place = std::list<Waiting>::iterator;

    const Duration timeout_;
    std::list<Waiting> all_;  ///< Oldest first.
    std::map<std::string, std::deque<Place>> places_;
};

}  // namespace routemaster::detail
