/// @file
/// `SpareThread`: a thread that one object lends to another.

#pragma once

#include <functional>

namespace routemaster {

/// A mostly idle thread that its owner lends to a second object, the borrower, for the borrower's
/// polls. Work of this thread often results in work for the borrower. Polling the borrower directly
/// afterwards, on this thread, avoids waking the borrower's own thread.
///
/// Thread safety: all members may be called from any thread.
class SpareThread {
public:
    virtual ~SpareThread() = default;

    /// Lends the thread to a borrower, whose poll is `turn`. The thread calls `turn` after each
    /// `request_turn`. Returns false if the thread is already lent.
    [[nodiscard]] virtual bool lend(std::function<void()> turn) = 0;

    /// Ends the loan. Waits until no call of `turn` is running; no further call follows. Must not
    /// be called inside `turn`.
    virtual void take_back() = 0;

    /// Requests one call of `turn` soon. Requests before this call are merged. A request made
    /// inside `turn` results in another call, after the thread's own work. Returns false, with no
    /// effect, if the thread is busy with its own work or is not lent. Does not block.
    [[nodiscard]] virtual bool request_turn() = 0;
};

}  // namespace routemaster
