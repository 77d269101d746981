/// @file
/// `Runner`: a thread that polls an active object.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "routemaster/active.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/store/spare_thread.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Thread that polls an `Active` object: at the time that the last poll returned, when the object
/// requests a wake-up, and at least once per second, because the machine's clock may be set.
///
/// An exception thrown by `poll` terminates the program, as in any other thread. If it were caught,
/// the object would continue without the work of this poll. After a restart, the object performs
/// all durable work that was unfinished.
///
/// Thread safety: call the constructor, `stop` and the destructor from one thread. `trouble` may be
/// called from any thread.
class Runner {
public:
    /// Starts polling immediately. `active` and `clock` must outlive the runner. No other code may
    /// poll `active`.
    ///
    /// `spare` is an optional thread that another object lends. Unless the thread is already lent
    /// to another runner, polls after a wake-up run on this thread while it is idle. `spare` must
    /// outlive the runner, too.
    explicit Runner(Active& active, const Clock& clock = system_clock(),
                    SpareThread* spare = nullptr);

    /// Calls `stop(0)`. If `stop` would throw, the destructor ends the program with a message.
    ~Runner();

    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    /// Closes the object in an orderly way and ends the thread, within `grace` or slightly longer.
    /// Results up to then are still stored; see the object's `Active::close`. Repeating the call
    /// does nothing. Throws `Failure` with `invalid` inside `poll` of the object, and inside a
    /// completion of a store.
    void stop(Duration grace);

    /// Returns why the object makes no progress: its current poll has lasted 10 s or longer. Empty
    /// if the object is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
