/// @file
/// Bounds the reads of a store whose replies are large.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace routemaster::api {

/// Lets as many reads be under way at once as `reads_max`, the others in the order in which they
/// came. The reply of one may take a mebibyte and more, and each client may ask for one at the same
/// time.
///
/// Thread safety: all members from any thread. Bounded by the requests under way.
class LimitedReads : public std::enable_shared_from_this<LimitedReads> {
public:
    explicit LimitedReads(std::size_t reads_max) noexcept : reads_max_{reads_max} {}

    /// Keeps the place of a read while it lives.
    using Place = std::shared_ptr<LimitedReads>;
    using Read = std::function<void(Place)>;

    /// Calls `read` once there is a place: inside this call or later, from the thread that gives a
    /// place up.
    void begin(Read read);

    /// Drops the reads that wait. Places may outlive this call.
    void close() noexcept;

private:
    void end() noexcept;
    void begin_next() noexcept;

    const std::size_t reads_max_;
    std::mutex mutex_;  ///< Guards everything below.
    std::deque<Read> waiting_;
    std::size_t under_way_ = 0;
    bool beginning_ = false;  ///< Some thread begins all that may begin.
};

}  // namespace routemaster::api
