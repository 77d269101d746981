#include "routemaster/entropy.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "core/system/fork_count.hpp"

namespace routemaster {
namespace {

/// Random numbers of one thread. One system call refills the reserve. A fork copies the reserve, so
/// the child process discards the copy and draws new numbers.
class Reserve {
public:
    std::uint64_t next() {
        const auto process = detail::fork_count();
        if (used_ == numbers_.size() || process_ != process) refill(process);
        return numbers_[used_++];
    }

private:
    void refill(std::uint32_t process) {
        // `getrandom` returns up to 256 bytes completely, and no signal interrupts such a read.
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
    std::uint32_t process_ = 0;
};

}  // namespace

std::uint64_t entropy() {
    thread_local Reserve reserve;
    return reserve.next();
}

}  // namespace routemaster
