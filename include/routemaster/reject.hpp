/// @file
/// `Reject`: an exception by which a callback or a handler of timers reports a permanent
/// failure.

#pragma once

#include <stdexcept>

namespace routemaster {

/// Exception for a permanent failure; the text states the reason. If a callback throws it, the
/// batch becomes DEAD at once, provided that the subscriber allows DEAD batches
/// (`Subscription::dead_letters`). Otherwise the batch is retried, as after any failure. If a
/// handler of timers throws it, the timer becomes DEAD at once.
///
///     bus.subscriber("audit").subscribe({"orders"}, [](const rm::Batch& batch) {
///         if (!known(batch)) throw rm::Reject{"of a version we do not know"};
///     }, {.attempts_max = 10});
class Reject : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace routemaster
