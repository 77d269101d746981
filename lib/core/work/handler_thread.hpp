/// @file
/// Marks the threads on which handlers run.

#pragma once

#include <utility>

namespace routemaster::detail {

/// Marks a thread while it runs handlers, or polls an object with handlers inside. The owner can
/// then refuse calls that would wait for this thread, for example `stop` in a handler.
///
/// Thread safety: used only by the marked thread.
class HandlerThread {
public:
    explicit HandlerThread(const void* owner) noexcept : before_{std::exchange(marked(), owner)} {}
    ~HandlerThread() { marked() = before_; }
    HandlerThread(const HandlerThread&) = delete;
    HandlerThread& operator=(const HandlerThread&) = delete;

    /// Whether the calling thread is marked by this owner. False for null.
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
