/// @file
/// `IdleThreads`: threads that wait for work.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace routemaster::detail {

/// Condition variable for waking threads one after another. Little work thus wakes few threads.
///
/// A thread that takes work calls `wake_one` if more work remains, and thereby wakes the next
/// thread. A woken thread counts as idle until it runs, and no further thread is woken until then.
/// Otherwise each piece of work would wake a thread.
///
/// Thread safety: guarded by the lock of the owner. Callers must have locked it.
class IdleThreads {
public:
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, Ready ready) {
        ++idle_;
        while (!ready()) {
            arrived_.wait(lock);
            woken_ = false;
        }
        --idle_;
    }

    /// Wakes a thread, unless another woken thread has not run yet.
    void wake_one() {
        if (idle_ == 0 || woken_) return;
        woken_ = true;
        arrived_.notify_one();
    }

    void wake_all() { arrived_.notify_all(); }

private:
    std::condition_variable arrived_;
    std::size_t idle_ = 0;
    bool woken_ = false;  // A woken thread has not run yet.
};

}  // namespace routemaster::detail
