/// @file
/// Makes one allocation of this program fail.

#pragma once

#include <cstdint>

namespace routemaster::test {

/// Whose allocations count.
enum class Allocations { of_this_thread, of_other_threads };

/// As long as it lives, the n-th allocation, counted from 1, throws `std::bad_alloc`, once. One at
/// a time.
class FailingAllocation {
public:
    FailingAllocation(Allocations whose, std::uint64_t n);
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;

    /// Whether it has failed.
    [[nodiscard]] bool happened() const noexcept;
};

}  // namespace routemaster::test
