/// @file
/// Whether an address belongs to the process.

#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace routemaster::test {

/// Whether there is memory at an address.
inline bool is_mapped(const void* address) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
    unsigned char resident = 0;
    return ::mincore(reinterpret_cast<void*>(begin), 1, &resident) == 0;
}

}  // namespace routemaster::test
