/// @file
/// Channels in which any message is a wake-up.

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

/// The channels that a link listens to besides its own channel. Shared by the link and the users of
/// the channels, so the object may outlive the link.
///
/// Thread safety: all members may be called from any thread.
class WakeChannels {
public:
    /// `heard` is called from the listening thread with the name of a channel that had a message,
    /// or may have had one before listening began. It must not block. `waker` wakes the listening
    /// thread after the channels have changed.
    WakeChannels(std::shared_ptr<detail::Waker> waker,
                 std::function<void(const std::string&)> heard)
        : waker_{std::move(waker)}, heard_{std::move(heard)} {}

    /// Listens to a channel, until `remove` was called as often as `add`.
    void add(const std::string& channel);
    void remove(const std::string& channel);

    /// Waits until the server sends the messages of the channel. Returns false after `timeout`, and
    /// at once when no listening connection exists or is being made.
    bool wait_until_heard(const std::string& channel, Duration timeout);

    // For the listening thread.

    /// Changes whenever `wanted` changes.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    [[nodiscard]] std::set<std::string> wanted() const;

    /// A listening connection is being made.
    void opening();
    /// The listening connection is gone.
    void closed();
    /// The connection now listens to the channel.
    void begun(const std::string& channel);
    /// The channel had a message.
    void heard(const std::string& channel) const { heard_(channel); }

private:
    const std::shared_ptr<detail::Waker> waker_;
    const std::function<void(const std::string&)> heard_;
    std::atomic<std::uint64_t> version_ = 1;

    mutable std::mutex mutex_;  ///< Guards the rest.
    std::condition_variable changed_;
    std::map<std::string, std::size_t> asked_;  ///< How often each channel was added.
    std::set<std::string> begun_;
    bool is_open_ = false;
};

}  // namespace routemaster::redis
