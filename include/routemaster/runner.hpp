/// @file
/// `Runner`: gives an active object a thread and a clock.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "routemaster/active.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/spare_thread.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Polls an `Active` from its own thread: at the time that the last poll returned, when the object
/// is woken, and at least once per second, because the machine's clock may be set.
///
/// An exception that leaves `poll` ends the program, as in any other thread: the object would lose
/// the work of this poll and go on without it. After the next start, everything that is durable is
/// done.
///
/// Thread safety: call the constructor, `stop` and the destructor from one thread. `trouble` may be
/// called from any thread.
class Runner {
public:
    /// Starts polling at once. `active` and `clock` must outlive the runner. No other code may poll
    /// `active`.
    ///
    /// `spare` is an optional lent thread. If it is not lent to another runner, then each poll
    /// after a wake-up runs on this thread while the thread has time. `spare` must outlive the
    /// runner, too.
    explicit Runner(Active& active, const Clock& clock = system_clock(),
                    SpareThread* spare = nullptr);

    /// Calls `stop(0)`. Where `stop` throws, the destructor ends the program with a message.
    ~Runner();

    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    /// Closes the object in an orderly way and ends the thread. May take `grace` and a little
    /// longer. Results up to then are still stored; see the object's `Active::close`. Repeating the
    /// call does nothing. Inside `poll` of the object, and inside a completion of a store, throws
    /// `Failure` with `invalid`.
    void stop(Duration grace);

    /// Why the object makes no progress: its current poll has been running for 10 s or longer.
    /// Nothing if the object is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
