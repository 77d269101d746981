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

/// Which channels a link listens to beside its own. Shared by the link and by those who asked for
/// them, so it may outlive the link.
///
/// Thread safety: all members may be called from any thread.
class WakeChannels {
public:
    /// `heard` is called, from the thread that listens, with the name of a channel in which there
    /// was a message, or may have been one before listening began. It must not block. `waker` wakes
    /// that thread when it has to listen to other channels.
    WakeChannels(std::shared_ptr<detail::Waker> waker,
                 std::function<void(const std::string&)> heard)
        : waker_{std::move(waker)}, heard_{std::move(heard)} {}

    /// Listens to a channel until `remove` was called as often.
    void add(const std::string& channel);
    void remove(const std::string& channel);

    /// Waits until the server sends what is published in the channel. False when it does not within
    /// `timeout`, and at once while there is no connection that listens, nor one being made.
    bool wait_until_heard(const std::string& channel, Duration timeout);

    // For the one who listens.

    /// Another number whenever `wanted` has changed.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    [[nodiscard]] std::set<std::string> wanted() const;

    /// A connection is being made that will listen.
    void opening();
    /// There is none any more.
    void closed();
    /// It listens to the channel now.
    void begun(const std::string& channel);
    /// There was a message.
    void heard(const std::string& channel) const { heard_(channel); }

private:
    const std::shared_ptr<detail::Waker> waker_;
    const std::function<void(const std::string&)> heard_;
    std::atomic<std::uint64_t> version_ = 1;

    mutable std::mutex mutex_;  ///< Guards the rest.
    std::condition_variable changed_;
    std::map<std::string, std::size_t> asked_;  ///< How often each was asked for.
    std::set<std::string> begun_;
    bool is_open_ = false;
};

}  // namespace routemaster::redis
