/// @file
/// Keeps objects with threads from waiting for themselves inside a completion.

#pragma once

#include "core/system/thread.hpp"
#include "routemaster/completion_thread.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {

/// Ends the program with a termination message if the destructor of `object` runs inside a
/// completion, on the thread of a store. It would wait for threads that may wait for the store.
inline void require_outside_completion(const char* object) noexcept {
    if (CompletionThread::is_this()) throw_destroyed_inside(object, "a completion of a store");
}

/// Refuses the stop of an object inside a completion of a store. See `require_outside_completion`.
inline void refuse_stop_in_completion() {
    if (!CompletionThread::is_this()) return;
    throw Failure{
        {Errc::invalid, "stop: inside a completion of the store it would wait for itself"}};
}

}  // namespace routemaster::detail
