// Starting a thread in this suite fails. The thread sanitizer skips this suite; tests with threads
// are in tests/threads.

#include <cstdlib>
#include <iostream>

#include <pthread.h>

extern "C" int pthread_create(pthread_t* /*thread*/, const pthread_attr_t* /*attributes*/,
                              void* (* /*run*/)(void*), void* /*argument*/) noexcept {
    std::cerr << "a test in tests/unit starts a thread: it belongs in tests/threads\n";
    std::abort();
}
