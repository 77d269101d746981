/// @file
/// `PollSet`: the file descriptors that a link waits for.

#pragma once

#include <poll.h>

#include <vector>

namespace routemaster::redis {

/// The descriptors to wait for in one iteration, and their events. With so few descriptors, `poll`
/// is cheaper than updating an epoll set.
///
/// The objects of a link that own descriptors share three member functions. `watch` adds their
/// descriptors. `work` continues as far as possible without waiting. `due` is the latest time for
/// the next call of `work`.
class PollSet {
public:
    void clear() { descriptors_.clear(); }

    void add(int descriptor, short events) {
        descriptors_.push_back({.fd = descriptor, .events = events, .revents = 0});
    }

    /// Sleeps until an event occurs, or for `milliseconds`; -1 means no limit.
    void wait(int milliseconds) {
        // A wait that a signal interrupted counts as a wait without events.
        if (::poll(descriptors_.data(), descriptors_.size(), milliseconds) < 0) clear();
    }

    /// The events of a descriptor; 0 without events, or if the descriptor was not added. After a
    /// descriptor was closed and its number reused, the events may belong to the earlier
    /// descriptor.
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
