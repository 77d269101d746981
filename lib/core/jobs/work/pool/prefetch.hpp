/// @file
/// `Prefetch`: how many jobs a pool acquires in advance, before slots are free.

#pragma once

#include <algorithm>
#include <cstddef>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Adaptive number of jobs to acquire in advance: as many jobs as ended in the last two time
/// windows. With this number, a pool of short jobs need not wait for its store, and a pool of long
/// jobs does not withhold jobs from workers with free slots. A burst begins with few jobs, and the
/// number doubles until the store keeps up. The number is 0 for two windows after a job arrived for
/// a repeated attempt. Such a job may have crashed its process, and another crash would interrupt
/// the waiting jobs, too.
///
/// Not thread safe.
class Prefetch {
public:
    static constexpr Duration window{10};

    explicit Prefetch(std::size_t most) : most_{most} {}

    void ended(TimePoint now, std::size_t jobs) noexcept {
        if (now < none_until_ && none_until_ - now <= 2 * window) return;
        if (now < begun_ || now - begun_ >= window) {
            last_ = now >= begun_ && now - begun_ < 2 * window ? current_ : 0;
            current_ = 0;
            begun_ = now;
        }
        current_ += jobs;
    }

    void came_again(TimePoint now) noexcept {
        none_until_ = now + 2 * window;
        last_ = current_ = 0;
    }

    [[nodiscard]] std::size_t jobs() const noexcept { return std::min(most_, last_ + current_); }

private:
    std::size_t most_;
    TimePoint begun_{};
    std::size_t last_ = 0;
    std::size_t current_ = 0;
    TimePoint none_until_{};  // End of the two windows after a repeated attempt arrived.
};

}  // namespace routemaster::detail
