/// @file
/// The few descriptors that a link waits for.

#pragma once

#include <poll.h>

#include <vector>

namespace routemaster::redis {

/// The descriptors to wait for in one iteration, and their events. With a handful of descriptors,
/// `poll` is cheaper than updating an epoll set.
///
/// The parts of a link that own descriptors share three members: `watch` adds the descriptors;
/// `work` continues as far as possible without waiting; `due` is the latest time for the next call
/// of `work`.
class PollSet {
public:
    /// Begins the next iteration.
    void clear() { descriptors_.clear(); }

    void add(int descriptor, short events) {
        descriptors_.push_back({.fd = descriptor, .events = events, .revents = 0});
    }

    /// Sleeps until an event occurs, or for `milliseconds`; -1: without limit.
    void wait(int milliseconds) {
        // An interrupted wait counts as a wait without events.
        if (::poll(descriptors_.data(), descriptors_.size(), milliseconds) < 0) clear();
    }

    /// The events of a descriptor; 0 without events, or when the descriptor was not waited for. The
    /// events may belong to an earlier descriptor with this number.
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
