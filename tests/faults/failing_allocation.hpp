/// @file
/// `FailingAllocation`: makes one allocation of this program fail.

#pragma once

#include <cstdint>

namespace routemaster::test {

/// The threads whose allocations count.
enum class Allocations { of_this_thread, of_other_threads };

/// As long as this object exists, the n-th allocation, counted from 1, throws `std::bad_alloc`
/// once. Only one object may exist.
class FailingAllocation {
public:
    FailingAllocation(Allocations whose, std::uint64_t n);
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;

    /// Whether the failure has happened.
    [[nodiscard]] bool happened() const noexcept;
};

}  // namespace routemaster::test
