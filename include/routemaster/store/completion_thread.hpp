/// @file
/// `CompletionThread`: marks a thread on which a store calls completions. A completion is a
/// function that receives the reply of a store.

#pragma once

namespace routemaster {

/// RAII mark of a thread that calls completions, for authors of stores. It must live as long as the
/// thread. On a marked thread, blocking calls (`perform`, `perform_all`, and all calls built on
/// them) return `invalid`, because only this thread could deliver their replies.
///
/// Thread safety: each object must be used only on the thread that created it.
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
