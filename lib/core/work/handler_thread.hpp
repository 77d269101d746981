/// @file
/// Marks the threads on which handlers run.

#pragma once

#include <utility>

namespace routemaster::detail {

/// A thread that runs handlers, or polls what may run them, keeps one of these for as long as it
/// does. Its owner can then refuse what would wait for that thread, as `stop` would in a handler.
///
/// Thread safety: used only by the thread that it marks.
class HandlerThread {
public:
    explicit HandlerThread(const void* owner) noexcept : before_{std::exchange(marked(), owner)} {}
    ~HandlerThread() { marked() = before_; }
    HandlerThread(const HandlerThread&) = delete;
    HandlerThread& operator=(const HandlerThread&) = delete;

    /// Whether the calling thread is marked by this owner. Null owns none.
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
