/// @file
/// How many jobs a pool fetches before there are slots for them.

#pragma once

#include <algorithm>
#include <cstddef>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// As many jobs as ended in the last two windows of time. A pool of short jobs then need not wait
/// for its store, and a pool of long jobs keeps no jobs from workers with free slots. A burst
/// begins with few jobs, and doubles their number until the store keeps up. The number is 0 for two
/// windows after a job came for a repeated attempt: the job may have crashed its process, and a
/// crash would end the waiting jobs, too.
///
/// Thread safety: none.
class Prefetch {
public:
    static constexpr Duration window{10};

    explicit Prefetch(std::size_t most) : most_{most} {}

    /// Notes the number of jobs ended since the last call.
    void ended(TimePoint now, std::size_t jobs) noexcept {
        if (now < none_until_ && none_until_ - now <= 2 * window) return;
        if (now < begun_ || now - begun_ >= window) {
            last_ = now >= begun_ && now - begun_ < 2 * window ? current_ : 0;
            current_ = 0;
            begun_ = now;
        }
        current_ += jobs;
    }

    /// Notes a job whose attempt is not its first.
    void came_again(TimePoint now) noexcept {
        none_until_ = now + 2 * window;
        last_ = current_ = 0;
    }

    [[nodiscard]] std::size_t jobs() const noexcept { return std::min(most_, last_ + current_); }

private:
    std::size_t most_;
    TimePoint begun_{};  // Beginning of the current window.
    std::size_t last_ = 0;
    std::size_t current_ = 0;
    TimePoint none_until_{};  // Two windows after the last repeated job.
};

}  // namespace routemaster::detail
