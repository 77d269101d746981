#include "limited_reads.hpp"

#include <exception>
#include <utility>

namespace routemaster::api {

void LimitedReads::begin(Read read) {
    {
        const std::lock_guard lock{mutex_};
        waiting_.push_back(std::move(read));
    }
    begin_next();
}

void LimitedReads::close() noexcept {
    std::deque<Read> dropped;  // Destroyed after the mutex is unlocked.
    const std::lock_guard lock{mutex_};
    dropped.swap(waiting_);
}

void LimitedReads::end() noexcept {
    {
        const std::lock_guard lock{mutex_};
        --under_way_;
    }
    begin_next();
}

/// Begins waiting reads in a loop. A store may reply inside the call of `read`, which ends the
/// read, so that a recursive implementation could exhaust the stack.
void LimitedReads::begin_next() noexcept {
    std::unique_lock lock{mutex_};
    while (!beginning_ && under_way_ < reads_max_ && !waiting_.empty()) {
        beginning_ = true;
        ++under_way_;
        Read read = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        Place place;
        try {
            place = Place{this, [self = shared_from_this()](LimitedReads*) { self->end(); }};
            read(std::move(place));
        } catch (const std::exception&) {
            // If memory runs out, the read is dropped, and the server responds with 500.
        }
        read = nullptr;
        place.reset();
        lock.lock();
        beginning_ = false;
    }
}

}  // namespace routemaster::api
