/// @file
/// Threads that wait for something to do.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace routemaster::detail {

/// Wakes threads one at a time, so that short work does not wake more of them than it needs.
///
/// A thread that takes something to do calls `wake_one` when there is more, so one leads to the
/// next. Until a woken thread has run, no other is woken: until then, it still counts as idle, and
/// each piece of work would wake another.
///
/// Thread safety: the lock of the owner guards it, and is held by whoever calls a member.
class IdleThreads {
public:
    /// Waits until `ready`.
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready ready) {
        ++idle_;
        while (!ready()) {
            arrived_.wait(lock);
            woken_ = false;
        }
        --idle_;
    }

    /// Wakes one, unless one is about to run.
    void wake_one() {
        if (idle_ == 0 || woken_) return;
        woken_ = true;
        arrived_.notify_one();
    }

    void wake_all() { arrived_.notify_all(); }

private:
    std::condition_variable arrived_;
    std::size_t idle_ = 0;
    bool woken_ = false;  // One was woken, and has not run since.
};

}  // namespace routemaster::detail
