/// @file
/// `SpareThread`: a thread that one object lends to another.

#pragma once

#include <functional>

namespace routemaster {

/// A mostly idle thread of one object, which runs the polls of a second object, the borrower. The
/// borrower's work often ends on this thread anyway; to run the poll here saves the wake-up of the
/// borrower's own thread.
///
/// Thread safety: all members may be called from any thread.
class SpareThread {
public:
    virtual ~SpareThread() = default;

    /// Lends the thread to a borrower. For each request the thread calls `turn`, the borrower's
    /// poll. False if the thread is already lent.
    [[nodiscard]] virtual bool lend(std::function<void()> turn) = 0;

    /// Ends the loan. Returns when no call of `turn` is running; none will follow. Must not be
    /// called inside `turn`.
    virtual void take_back() = 0;

    /// Asks the thread to call `turn` soon, once for all requests made before. A request inside
    /// `turn` asks for another call, after the thread's own work. Returns false, with no effect, if
    /// the thread is busy with its own work or is not lent. Does not block.
    [[nodiscard]] virtual bool request_turn() = 0;
};

}  // namespace routemaster
