/// @file
/// Marks the threads on which stores call completions.

#pragma once

namespace routemaster {

/// For those who write a store: the thread that calls its completions has one of these for as long
/// as it runs. Blocking calls (`perform`, `perform_all`, and all that are made of them) are then
/// refused on it as `invalid`: they would wait for an answer that only this thread can give.
///
/// Thread safety: made, asked and destroyed by the thread that it marks.
class CompletionThread {
public:
    CompletionThread() noexcept { marked() = true; }
    ~CompletionThread() { marked() = false; }
    CompletionThread(const CompletionThread&) = delete;
    CompletionThread& operator=(const CompletionThread&) = delete;

    /// Whether the calling thread is marked.
    [[nodiscard]] static bool is_this() noexcept { return marked(); }

private:
    static bool& marked() noexcept {
        thread_local bool is_marked = false;
        return is_marked;
    }
};

}  // namespace routemaster
