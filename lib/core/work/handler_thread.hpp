/// @file
/// `HandlerThread`: marks the threads that run handlers.

#pragma once

#include <utility>

namespace routemaster::detail {

/// Guard that marks the calling thread while handlers run on the thread. The owner can then reject
/// a call that would wait for this thread, for example `stop` inside a handler.
///
/// Thread safety: used only by the marked thread.
class HandlerThread {
public:
    explicit HandlerThread(const void* owner) noexcept : before_{std::exchange(marked(), owner)} {}
    ~HandlerThread() { marked() = before_; }
    HandlerThread(const HandlerThread&) = delete;
    HandlerThread& operator=(const HandlerThread&) = delete;

    /// Whether this owner marked the calling thread. False for null.
    [[nodiscard]] static bool is_of(const void* owner) noexcept {
        return owner != nullptr && marked() == owner;
    }

private:
    static const void*& marked() noexcept {
        thread_local const void* owner = nullptr;
        return owner;
    }

    const void* before_;
};

}  // namespace routemaster::detail
