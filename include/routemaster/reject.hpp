/// @file
/// `Reject`: the exception by which a callback or a handler in the process reports a permanent
/// failure.

#pragma once

#include <stdexcept>

namespace routemaster {

/// Reports a permanent failure; the text states the reason.
/// Thrown by a callback: if the subscriber's settings allow DEAD batches
/// (`Subscription::dead_letters`), the batch becomes DEAD at once; else the batch is retried, as
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
