#include "core/system/fork_count.hpp"

#include <pthread.h>

#include <atomic>
#include <system_error>

namespace routemaster::detail {
namespace {

constinit std::atomic<std::uint32_t> forks{0};

}  // namespace

std::uint32_t fork_count() {
    static const int failed =
        pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    if (failed != 0) throw std::system_error{failed, std::generic_category(), "pthread_atfork"};
    return forks.load(std::memory_order_relaxed);
}

}  // namespace routemaster::detail
