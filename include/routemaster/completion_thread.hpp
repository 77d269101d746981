/// @file
/// Marks the threads on which stores call completions.

#pragma once

namespace routemaster {

/// For authors of stores: the thread that calls completions keeps one of these for as long as it
/// runs. Blocking calls (`perform`, `perform_all`, and all that use them) then return `invalid` on
/// that thread: they would wait for a reply that only this thread can deliver.
///
/// Thread safety: used only by the thread that it marks.
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
