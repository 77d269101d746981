/// @file
/// Marks the threads on which handlers run.

#pragma once

namespace routemaster::detail {

/// A thread that runs handlers keeps one of these for as long as it does. Whoever owns the thread
/// can then refuse what would wait for it, as `stop` would inside a handler.
///
/// Thread safety: used only by the thread that it marks.
class HandlerThread {
public:
    explicit HandlerThread(const void* owner) noexcept { marked() = owner; }
    ~HandlerThread() { marked() = nullptr; }
    HandlerThread(const HandlerThread&) = delete;
    HandlerThread& operator=(const HandlerThread&) = delete;

    /// Whether the calling thread is one of this owner's.
    [[nodiscard]] static bool is_of(const void* owner) noexcept {
        return owner != nullptr && marked() == owner;
    }

private:
    static const void*& marked() noexcept {
        thread_local const void* owner = nullptr;
        return owner;
    }
};

}  // namespace routemaster::detail
