/// @file
/// Detects calls inside a completion of a store that would deadlock.

#pragma once

#include "core/system/thread.hpp"
#include "routemaster/error.hpp"
#include "routemaster/store/completion_thread.hpp"

namespace routemaster::detail {

/// Called by destructors. Ends the program with a termination message if the destructor of `object`
/// runs inside a completion, on a thread of the store. The destructor would wait for threads that
/// may wait for the store.
inline void require_outside_completion(const char* object) noexcept {
    if (CompletionThread::is_this()) throw_destroyed_inside(object, "a completion of a store");
}

/// Throws `Failure` if an object is stopped inside a completion of a store; see
/// `require_outside_completion`.
inline void refuse_stop_in_completion() {
    if (!CompletionThread::is_this()) return;
    throw Failure{{Errc::invalid, "stop: must not be called inside a completion of the store"}};
}

}  // namespace routemaster::detail
