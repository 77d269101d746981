#include "wake_channels.hpp"

#include <cstddef>

namespace routemaster::redis {

void WakeChannels::add(const std::string& channel) {
    {
        const std::lock_guard lock{mutex_};
        if (++asked_[channel] > 1) return;
        ++version_;
    }
    waker_->wake();
}

void WakeChannels::remove(const std::string& channel) {
    {
        const std::lock_guard lock{mutex_};
        const auto place = asked_.find(channel);
        if (place == asked_.end() || --place->second > 0) return;
        asked_.erase(place);
        begun_.erase(channel);
        ++version_;
    }
    waker_->wake();
}

bool WakeChannels::wait_until_heard(const std::string& channel, Duration timeout) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, timeout, [&] { return !is_open_ || begun_.contains(channel); });
    return begun_.contains(channel);
}

std::set<std::string> WakeChannels::wanted() const {
    const std::lock_guard lock{mutex_};
    std::set<std::string> all;
    for (const auto& [channel, times] : asked_) all.insert(channel);
    return all;
}

void WakeChannels::opening() {
    const std::lock_guard lock{mutex_};
    is_open_ = true;
    begun_.clear();
}

void WakeChannels::closed() {
    const std::lock_guard lock{mutex_};
    is_open_ = false;
    begun_.clear();
    changed_.notify_all();
}

void WakeChannels::begun(const std::string& channel) {
    heard_(channel);
    const std::lock_guard lock{mutex_};
    if (!asked_.contains(channel)) return;
    begun_.insert(channel);
    changed_.notify_all();
}

}  // namespace routemaster::redis
