/// @file
/// `WakeChannels`: channels for wake-ups. Any message is a wake-up.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "core/system/waker.hpp"
#include "routemaster/time.hpp"

namespace routemaster::redis {

/// Set of channels to which a link subscribes in addition to its main channel. Shared by the link
/// and the users of the channels. May therefore outlive the link.
///
/// Thread safety: all members may be called from any thread.
class WakeChannels {
public:
    /// `heard` is called on the listening thread with the name of a channel after a message, or
    /// after a possible message before listening began. `heard` must not block. `waker` wakes the
    /// listening thread after the set of channels was changed.
    WakeChannels(std::shared_ptr<detail::Waker> waker,
                 std::function<void(const std::string&)> heard)
        : waker_{std::move(waker)}, heard_{std::move(heard)} {}

    /// Adds a channel to the set, until `remove` was called as often as `add`.
    void add(const std::string& channel);
    void remove(const std::string& channel);

    /// Waits until the subscription to the channel is active. Returns false after `timeout`, and
    /// returns false at once when no listening connection is open or being opened.
    bool wait_until_heard(const std::string& channel, Duration timeout);

    // The functions below are for the listening thread.

    /// Changes whenever the result of `wanted` changes.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    [[nodiscard]] std::set<std::string> wanted() const;

    void opening();
    void closed();
    void begun(const std::string& channel);
    void heard(const std::string& channel) const { heard_(channel); }

private:
    const std::shared_ptr<detail::Waker> waker_;
    const std::function<void(const std::string&)> heard_;
    std::atomic<std::uint64_t> version_ = 1;

    mutable std::mutex mutex_;  ///< Guards the members below.
    std::condition_variable changed_;
    std::map<std::string, std::size_t> asked_;
    std::set<std::string> begun_;
    bool is_open_ = false;
};

}  // namespace routemaster::redis
