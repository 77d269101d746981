/// @file
/// `LimitedReads`: limits how many large responses are created at once.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace routemaster::api {

/// Limiter that runs at most `reads_max` reads at once, in order of arrival. Without it, many
/// clients could each request a response of 1 MiB or more at the same time. The queue is bounded by
/// the number of requests.
///
/// Thread safe.
class LimitedReads : public std::enable_shared_from_this<LimitedReads> {
public:
    explicit LimitedReads(std::size_t reads_max) noexcept : reads_max_{reads_max} {}

    using Place = std::shared_ptr<LimitedReads>;
    using Read = std::function<void(Place)>;

    /// Calls `read` as soon as fewer than `reads_max` reads run: inside this call, or later on the
    /// thread that ends another read.
    void begin(Read read);

    /// Drops the waiting reads. Running reads may continue after this call.
    void close() noexcept;

private:
    void end() noexcept;
    void begin_next() noexcept;

    const std::size_t reads_max_;
    std::mutex mutex_;  ///< Guards the members below.
    std::deque<Read> waiting_;
    std::size_t under_way_ = 0;
    bool beginning_ = false;  ///< A thread is in the loop of `begin_next`.
};

}  // namespace routemaster::api
