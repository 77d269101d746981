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

/// Blocks signals in the calling thread, and in threads started meanwhile: signals of the process
/// must reach threads of the application. Signals for faults of the thread itself stay open, for
/// the crash reporter of the application, and SIGPROF, for its profiler.
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

/// Starts a thread with blocked signals. Throws `Failure`, `unavailable`, when the system refuses.
template <class Thread = std::thread, class Function>
[[nodiscard]] Thread start_thread(Function function) {
    const BlockedSignals blocked;
    try {
        return Thread{std::move(function)};
    } catch (const std::system_error& error) {
        throw Failure{{Errc::unavailable, std::string{"thread: "} + error.what()}};
    }
}

/// Throws the termination message of a destructor of `object` that runs inside `place`, on a thread
/// for which the destructor would wait.
[[noreturn]] inline void throw_destroyed_inside(const char* object, const std::string& place) {
    throw Failure{
        {Errc::invalid, std::string{object} + ": destroyed inside " + place +
                            ", which it would wait for; if exit() was called there, return "
                            "instead and let another thread stop the " +
                            object + " and exit, or call quick_exit()"}};
}

/// Ends the program with a termination message if the destructor of `object` runs inside a handler
/// of its own, for which it would wait.
inline void require_outside(bool inside, const char* object, const char* handler) noexcept {
    if (inside) throw_destroyed_inside(object, std::string{handler} + " of its own");
}

/// Joins the thread of an object under destruction. On this thread itself, see `require_outside`.
template <class Thread>
void join_outside(Thread& thread, const char* object, const char* handler) noexcept {
    if (!thread.joinable()) return;
    require_outside(thread.get_id() == std::this_thread::get_id(), object, handler);
    thread.join();
}

}  // namespace routemaster::detail
