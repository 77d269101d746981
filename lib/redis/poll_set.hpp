/// @file
/// The few descriptors that a link waits for.

#pragma once

#include <poll.h>

#include <vector>

namespace routemaster::redis {

/// The descriptors to wait for in one turn, and then their events. There are a handful, so that
/// `poll` is cheaper than keeping an epoll set up to date.
class PollSet {
public:
    /// Begins the next turn.
    void clear() { descriptors_.clear(); }

    void add(int descriptor, short events) {
        descriptors_.push_back({.fd = descriptor, .events = events, .revents = 0});
    }

    /// Sleeps until something happens or `milliseconds` are over (-1: never).
    void wait(int milliseconds) {
        // An interrupted wait counts as one without events.
        if (::poll(descriptors_.data(), descriptors_.size(), milliseconds) < 0) clear();
    }

    /// The events of the descriptor; 0 when there were none or it was not waited for. They may
    /// belong to another descriptor that had the same number at the time.
    [[nodiscard]] short ready(int descriptor) const {
        for (const auto& polled : descriptors_) {
            if (polled.fd == descriptor) return polled.revents;
        }
        return 0;
    }

private:
    std::vector<pollfd> descriptors_;
};

}  // namespace routemaster::redis
