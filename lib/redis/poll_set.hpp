/// @file
/// The few descriptors that a link waits for.

#pragma once

#include <poll.h>

#include <vector>

namespace routemaster::redis {

/// What is waited for in one turn, and then what came of it. There are a handful of descriptors, so
/// that `poll` is cheaper than keeping an epoll set up to date.
class PollSet {
public:
    /// Begins the next turn.
    void clear() { wishes_.clear(); }

    void add(int descriptor, short events) {
        wishes_.push_back({.fd = descriptor, .events = events, .revents = 0});
    }

    /// Sleeps until something happens or `milliseconds` are over (-1: never).
    void wait(int milliseconds) {
        // An interrupted wait is taken for one in which nothing happened.
        if (::poll(wishes_.data(), wishes_.size(), milliseconds) < 0) clear();
    }

    /// What happened to the descriptor; 0 when nothing did or it was not waited for. It may have
    /// happened to another one that had the same number at the time.
    [[nodiscard]] short ready(int descriptor) const {
        for (const auto& wish : wishes_) {
            if (wish.fd == descriptor) return wish.revents;
        }
        return 0;
    }

private:
    std::vector<pollfd> wishes_;
};

}  // namespace routemaster::redis
