/// @file
/// Gives an active object a thread and a clock.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "routemaster/active.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/spare_thread.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Polls an `Active` from a thread of its own: at the instant that it asked for, when it is woken,
/// and each second at the latest, so that a step of the machine's clock is noticed.
///
/// An exception that leaves `poll` ends the program, as it would leaving any other thread: what had
/// come with that turn would be lost, and the object would go on without. What is durable is done
/// after the next start.
///
/// Thread safety: the constructor, `stop` and the destructor from one thread; `trouble` from any.
class Runner {
public:
    /// Begins at once. `active` and `clock` must outlive it; nothing else may poll `active`.
    ///
    /// When `active` is woken it is polled from the `spare` thread, if there is one, it has time,
    /// and no other runner has borrowed it. It must outlive the runner, too.
    explicit Runner(Active& active, const Clock& clock = system_clock(),
                    SpareThread* spare = nullptr);

    /// Stops as `stop(0)` does.
    ~Runner();

    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    /// Closes the object in an orderly way, which may take `grace` and a little more, and ends the
    /// thread. What has been done by then is still noted in the store; see `Active::close` of the
    /// object. Repeating it does nothing. Inside what the object does in its `poll` it throws
    /// `Failure`, `invalid`.
    void stop(Duration grace);

    /// Why the object gets nothing done: its last turn has not ended for 10 s. Nothing when all is
    /// well.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
