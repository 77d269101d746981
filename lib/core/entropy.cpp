#include "routemaster/entropy.hpp"

#include <pthread.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace routemaster {
namespace {

/// Counts the forks between the first process and this one.
std::atomic<std::uint64_t> forks{0};

/// A fork copies the reserve of its thread: from then on the child must not use it.
void count_forks() {
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
    if (registered != 0)
        throw std::system_error{registered, std::generic_category(), "pthread_atfork"};
}

/// Random numbers of a thread. A system call takes longer than all of them together.
class Reserve {
public:
    Reserve() { count_forks(); }

    std::uint64_t next() {
        const auto process = forks.load(std::memory_order_relaxed);
        if (used_ == numbers_.size() || process_ != process) refill(process);
        return numbers_[used_++];
    }

private:
    void refill(std::uint64_t process) {
        // Up to 256 bytes arrive whole, and no signal interrupts them.
        static_assert(sizeof numbers_ <= 256);
        while (getrandom(numbers_.data(), sizeof numbers_, 0) < 0) {
            if (errno != EINTR)
                throw std::system_error{errno, std::generic_category(), "getrandom"};
        }
        used_ = 0;
        process_ = process;
    }

    std::array<std::uint64_t, 32> numbers_{};
    std::size_t used_ = numbers_.size();
    std::uint64_t process_ = 0;
};

}  // namespace

std::uint64_t entropy() {
    thread_local Reserve reserve;
    return reserve.next();
}

}  // namespace routemaster
