#include "complaints.hpp"

namespace routemaster::detail {

using std::chrono::steady_clock;

Complaints::~Complaints() {
    if (held_ > 0) log_held(steady_clock::now());
}

void Complaints::log(std::string_view text) noexcept {
    if (!log_) return;
    const auto now = steady_clock::now();
    const std::lock_guard lock{mutex_};
    last_ = text;
    ++held_;
    if (now >= next_) log_held(now);
}

bool Complaints::flush() noexcept {
    const auto now = steady_clock::now();
    const std::lock_guard lock{mutex_};
    if (held_ > 0 && now >= next_) log_held(now);
    return held_ > 0;
}

void Complaints::log_held(SteadyTime now) noexcept {
    auto line = beginning_ + last_;
    const auto count = std::exchange(held_, 0);
    if (count > 1) line += ", occurrences since the last such line: " + std::to_string(count);
    next_ = now + pause;
    log_(level_, line);
}

}  // namespace routemaster::detail
