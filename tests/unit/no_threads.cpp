// The thread sanitizer does not run this suite, as it would find nothing in it: what has threads is
// tested in tests/threads. A test that starts one here fails.

#include <cstdlib>
#include <iostream>

#include <pthread.h>

extern "C" int pthread_create(pthread_t* /*thread*/, const pthread_attr_t* /*attributes*/,
                              void* (* /*run*/)(void*), void* /*argument*/) noexcept {
    std::cerr << "a test in tests/unit starts a thread: it belongs in tests/threads\n";
    std::abort();
}
