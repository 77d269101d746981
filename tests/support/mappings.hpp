/// @file
/// The memory mappings of the process.

#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace routemaster::test {

/// Whether an address is mapped.
inline bool is_mapped(const void* address) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
    unsigned char resident = 0;
    return ::mincore(reinterpret_cast<void*>(begin), 1, &resident) == 0;
}

/// Whether this system supports transparent huge pages.
inline bool has_huge_pages() {
    return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage");
}

/// The bytes for which huge pages were requested, with or without success. Memory from `malloc`
/// does not count.
inline std::size_t huge_page_bytes() {
    std::ifstream mappings{"/proc/self/smaps"};
    std::size_t sum = 0;
    std::size_t kilobytes = 0;
    for (std::string line; std::getline(mappings, line);) {
        std::istringstream words{line};
        std::string word;
        words >> word;
        if (word == "Size:") words >> kilobytes;
        if (word != "VmFlags:") continue;
        while (words >> word) sum += word == "hg" ? kilobytes << 10U : 0;
    }
    return sum;
}

}  // namespace routemaster::test
