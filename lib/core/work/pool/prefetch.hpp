/// @file
/// How many jobs a pool fetches before there is a slot for them.

#pragma once

#include <algorithm>
#include <cstddef>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// As many as ended in the last two windows of time. So a pool of short jobs need not wait for its
/// store; and of long ones it keeps none from others who could do them now. The work of a burst
/// begins small, and doubles until the store keeps up. None while jobs come that were begun before:
/// one of them may have ended its process, and would take all along that wait here.
///
/// Thread safety: none.
class Prefetch {
public:
    static constexpr Duration window{10};

    explicit Prefetch(std::size_t most) : most_{most} {}

    /// So many jobs ended since the last call.
    void ended(TimePoint now, std::size_t jobs) noexcept {
        if (now < none_until_ && none_until_ - now <= 2 * window) return;
        if (now < begun_ || now - begun_ >= window) {
            last_ = now >= begun_ && now - begun_ < 2 * window ? current_ : 0;
            current_ = 0;
            begun_ = now;
        }
        current_ += jobs;
    }

    /// A job came that was begun before.
    void came_again(TimePoint now) noexcept {
        none_until_ = now + 2 * window;
        last_ = current_ = 0;
    }

    [[nodiscard]] std::size_t jobs() const noexcept { return std::min(most_, last_ + current_); }

private:
    std::size_t most_;
    TimePoint begun_{};  // Of the current window.
    std::size_t last_ = 0;
    std::size_t current_ = 0;
    TimePoint none_until_{};  // Since a job came that was begun before.
};

}  // namespace routemaster::detail
