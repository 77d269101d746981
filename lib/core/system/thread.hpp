/// @file
/// Starts the threads of the library, and waits for their end.

#pragma once

#include <pthread.h>

#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "routemaster/error.hpp"

namespace routemaster::detail {

/// Blocks signals in the calling thread, and so in the threads that it starts meanwhile: the
/// signals of the process reach the threads of the application. Open are those that report a fault
/// of the thread itself, for the crash reporter of the application, and SIGPROF, for its profiler.
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

/// Starts a thread with blocked signals. Throws `Failure`, `unavailable`, when the system has none.
template <class Thread = std::thread, class Function>
[[nodiscard]] Thread start_thread(Function function) {
    const BlockedSignals blocked;
    try {
        return Thread{std::move(function)};
    } catch (const std::system_error& error) {
        throw Failure{{Errc::unavailable, std::string{"thread: "} + error.what()}};
    }
}

/// Ends the program, with a termination message, when `inside` holds: the destructor of `object`
/// runs on a thread that it would wait for.
inline void require_outside(bool inside, const char* object, const char* handler) noexcept {
    const auto end = [&] {
        throw Failure{
            {Errc::invalid, std::string{object} + ": destroyed inside " + handler +
                                " of its own, which it would wait for; if exit() was called there, "
                                "return instead and let another thread stop the " +
                                object + " and exit, or call quick_exit()"}};
    };
    if (inside) end();
}

/// Joins the thread of an object that is being destroyed; `require_outside` says what happens on
/// the thread itself.
template <class Thread>
void join_outside(Thread& thread, const char* object, const char* handler) noexcept {
    if (!thread.joinable()) return;
    require_outside(thread.get_id() == std::this_thread::get_id(), object, handler);
    thread.join();
}

}  // namespace routemaster::detail
