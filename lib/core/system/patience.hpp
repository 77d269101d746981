/// @file
/// Retries an allocation until memory is available.

#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace routemaster::detail {

/// Repeats `work` until it does not throw `std::bad_alloc`. To be used for events that must not be
/// lost, if their producer cannot handle an error. `work` must have no effect when it throws.
/// Throws `std::bad_alloc` after 10 s.
template <class Work>
void with_patience(Work work) {
    constexpr std::chrono::milliseconds pause{5};
    for (int left = 2'000; left > 0; --left) {
        try {
            return work();
        } catch (const std::bad_alloc&) {
            std::this_thread::sleep_for(pause);
        }
    }
    work();
}

}  // namespace routemaster::detail
