#include "master_watch.hpp"

#include <algorithm>
#include <utility>

namespace routemaster::redis {

namespace {

constexpr std::size_t lines_logged_max = 100;

}  // namespace

MasterWatch::MasterWatch(const LinkContext& context, std::uint64_t seed)
    : context_{context},
      channel_{"+switch-master", [this](std::string_view) { stirred_ = true; }, nullptr},
      backoff_{seed} {}

std::optional<RedisAddress> MasterWatch::work(const RedisAddress& master, const PollSet& polled,
                                              Instant now) {
    if (context_.options.sentinel_master.empty()) return std::nullopt;
    if (!listener_) {
        if (now < pause_until_) return std::nullopt;
        listen(now);
    }
    listener_->work(polled, now);
    if (const auto& reason = listener_->lost()) {
        failed(listener_->address(), *reason, now);
        return std::nullopt;
    }
    if (std::exchange(stirred_, false)) {
        backoff_.reset();
        logged_.clear();
        inquiry_.emplace(listener_->address(), context_, now);
    }
    const auto answer = ask(polled, now);
    if (!answer || *answer == master) return std::nullopt;
    return answer;
}

const RedisAddress& MasterWatch::sentinel() const {
    const auto& sentinels = context_.options.addresses;
    return sentinels[next_ % sentinels.size()];
}

void MasterWatch::listen(Instant now) {
    ++next_;
    listener_.emplace(sentinel(), context_, channel_, Handshake::Peer::sentinel, now);
}

/// Handles a lost connection to a sentinel. After a delay, the watch subscribes to the next
/// sentinel.
void MasterWatch::failed(const RedisAddress& sentinel, const Error& reason, Instant now) {
    const auto line = "sentinel " + to_text(sentinel) +
                      ": cannot subscribe to notifications: " + reason.context();
    if (logged_.size() < lines_logged_max && logged_.insert(line).second) {
        context_.log(LogLevel::warning, line);
    }
    pause_until_ = now + backoff_.next();
    inquiry_.reset();
    listener_.reset();
}

std::optional<RedisAddress> MasterWatch::ask(const PollSet& polled, Instant now) {
    if (!inquiry_) return std::nullopt;
    const auto answer = inquiry_->work(polled, now);
    if (!answer) return std::nullopt;
    const auto sentinel = inquiry_->sentinel();
    inquiry_.reset();
    if (*answer) return **answer;
    failed(sentinel, answer->error(), now);
    return std::nullopt;
}

void MasterWatch::watch(PollSet& polled) const {
    if (listener_) listener_->watch(polled);
    if (inquiry_) inquiry_->watch(polled);
}

Instant MasterWatch::due() const {
    if (context_.options.sentinel_master.empty()) return no_instant;
    if (!listener_) return pause_until_;
    return inquiry_ ? std::min(listener_->due(), inquiry_->due()) : listener_->due();
}

}  // namespace routemaster::redis
