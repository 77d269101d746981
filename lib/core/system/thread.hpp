/// @file
/// Starts and joins the threads of the library.

#pragma once

#include <pthread.h>

#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "routemaster/error.hpp"

namespace routemaster::detail {

/// Guard that blocks signals in the calling thread and in threads that it starts meanwhile, because
/// signals to the process must be handled by threads of the application. Signals for faults of the
/// thread itself are not blocked, because the application may have a crash reporter. SIGPROF is not
/// blocked either, for a profiler.
class BlockedSignals {
public:
    BlockedSignals() noexcept {
        sigset_t blocked;
        sigfillset(&blocked);
        for (const int open :
             {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
            sigdelset(&blocked, open);
        }
        pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
    sigset_t before_{};
};

/// Starts a thread with blocked signals. Throws `Failure` with `unavailable` when the system
/// refuses to start a thread.
template <class Thread = std::thread, class Function>
[[nodiscard]] Thread start_thread(Function function) {
    const BlockedSignals blocked;
    try {
        return Thread{std::move(function)};
    } catch (const std::system_error& error) {
        throw Failure{{Errc::unavailable, std::string{"thread: "} + error.what()}};
    }
}

/// Throws the termination message for a destructor of `object` that runs inside `place`, on a
/// thread for which the destructor would wait.
[[noreturn]] inline void throw_destroyed_inside(const char* object, const std::string& place) {
    throw Failure{
        {Errc::invalid, std::string{object} + ": destroyed inside " + place +
                            ", which it would wait for; if exit() was called there, return "
                            "instead and let another thread stop the " +
                            object + " and exit, or call quick_exit()"}};
}

/// Called by destructors. Ends the program with a termination message if the destructor of `object`
/// runs inside one of its own handlers, for which the destructor would wait.
inline void require_outside(bool inside, const char* object, const char* handler) noexcept {
    if (inside) throw_destroyed_inside(object, std::string{handler} + " of its own");
}

/// Joins the thread of an object in its destructor. If the calling thread is this thread, ends the
/// program as `require_outside` does.
template <class Thread>
void join_outside(Thread& thread, const char* object, const char* handler) noexcept {
    if (!thread.joinable()) return;
    require_outside(thread.get_id() == std::this_thread::get_id(), object, handler);
    thread.join();
}

}  // namespace routemaster::detail
