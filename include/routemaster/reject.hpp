/// @file
/// The exception by which a callback or a handler in the process reports a permanent failure.

#pragma once

#include <stdexcept>

namespace routemaster {

/// Thrown by a callback: the failure is permanent, and the text says why. The batch becomes DEAD at
/// once when its subscriber asked for that (`Subscription::dead_letters`); else it is retried, as
/// after any failure. Thrown by a handler of timers: the timer becomes DEAD at once.
///
///     bus.subscriber("audit").subscribe({"orders"}, [](const rm::Batch& batch) {
///         if (!known(batch)) throw rm::Reject{"of a version we do not know"};
///     }, {.attempts_max = 10});
class Reject : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace routemaster
