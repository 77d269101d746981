/// @file
/// A thread that has time for the turns of another object.

#pragma once

#include <functional>

namespace routemaster {

/// A thread that some object has for itself, and that mostly sleeps. Whoever would have to wake a
/// thread of its own for each piece of work, which that one needs to hear of in the end, has it
/// done here: a thread less wakes up.
///
/// Thread safety: all members may be called from any thread.
class SpareThread {
public:
    virtual ~SpareThread() = default;

    /// Lends the thread to a borrower, whose `turn` it calls for each request. False when another
    /// has it.
    [[nodiscard]] virtual bool lend(std::function<void()> turn) = 0;

    /// Ends that: returns when no turn is under way, and none will be. Not to be called inside of a
    /// turn.
    virtual void take_back() = 0;

    /// Has the thread call `turn` soon, once for all requests that came before. Inside of a turn it
    /// asks for the next: what the thread has got to do meanwhile comes first. False, and nothing
    /// else, when it has much to do itself, or is lent to nobody. Does not block.
    [[nodiscard]] virtual bool request_turn() = 0;
};

}  // namespace routemaster
