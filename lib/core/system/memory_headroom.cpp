#include "core/system/memory_headroom.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>

namespace routemaster::detail {
namespace {

constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

/// How much data is accepted between two measurements, in bytes.
constexpr std::uint64_t look_bytes = 1U << 20U;

/// The approximate memory that a step takes besides its payload, in bytes.
constexpr std::uint64_t step_bytes = 512;

/// How many steps are rejected between two measurements.
constexpr std::uint32_t look_steps = 16;

std::uint64_t limit_of(int resource) {
    rlimit limit{};
    const bool found = ::getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0;
    return found && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : unlimited;
}

/// The number in a cgroup's file. Nothing if the file contains the word `max`.
std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
    std::ifstream stream{file};
    std::uint64_t number = 0;
    return stream >> number ? std::optional{number} : std::nullopt;
}

/// The bytes of cached files in a cgroup. The kernel frees them before memory runs out.
std::uint64_t cached_files(const std::filesystem::path& details) {
    std::ifstream stream{details};
    std::string name;
    std::uint64_t number = 0;
    std::uint64_t sum = 0;
    while (stream >> name >> number) {
        if (name == "active_file" || name == "inactive_file") sum += number;
    }
    return sum;
}

std::uint64_t free_in_heap() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    return ::mallinfo2().fordblks;
#else
    return 0;
#endif
}

std::uint64_t difference(std::uint64_t limit, std::uint64_t used) {
    return limit - std::min(limit, used);
}

}  // namespace

MemoryLimits::MemoryLimits(const std::filesystem::path& process,
                           const std::filesystem::path& cgroups)
    : process_{process} {
    // A line `0::/path` names a path in the tree of cgroup version 2. A line `7:memory:/path` names
    // a path in the memory tree of version 1.
    std::ifstream lines{process / "cgroup"};
    for (std::string line; std::getline(lines, line);) {
        const bool unified = line.starts_with("0::/");
        const auto controller = line.find(":memory:/");
        if (!unified && controller == std::string::npos) continue;
        const auto tree = unified ? cgroups : cgroups / "memory";
        std::filesystem::path inside = line.substr(line.rfind(":/") + 2);
        while (true) {
            unified ? add(tree / inside, "memory.max", "memory.current")
                    : add(tree / inside, "memory.limit_in_bytes", "memory.usage_in_bytes");
            if (inside.empty()) break;
            inside = inside.parent_path();
        }
    }
}

void MemoryLimits::add(const std::filesystem::path& folder, const char* limit, const char* used) {
    // In version 1 of cgroups, a number near the greatest 64-bit number means no limit.
    constexpr std::uint64_t none = std::uint64_t{1} << 62U;
    if (number_in(folder / limit).value_or(none) >= none) return;
    groups_.push_back({folder / limit, folder / used, folder / "memory.stat"});
}

std::uint64_t MemoryLimits::lowest() const {
    auto lowest = std::min(limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA));
    for (const auto& group : groups_) {
        lowest = std::min(lowest, number_in(group.limit).value_or(unlimited));
    }
    return lowest;
}

std::uint64_t MemoryLimits::left() const {
    auto left = unlimited;
    const auto address_space = limit_of(RLIMIT_AS);
    const auto data = limit_of(RLIMIT_DATA);
    if (address_space != unlimited || data != unlimited) {
        std::ifstream pages{process_ / "statm"};
        std::uint64_t all = 0;
        std::uint64_t other = 0;
        std::uint64_t writable = 0;
        pages >> all >> other >> other >> other >> other >> writable;
        const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        left = std::min(difference(address_space, all * page), difference(data, writable * page));
        left += std::min(free_in_heap(), unlimited - left);
    }
    for (const auto& group : groups_) {
        const auto used = number_in(group.used).value_or(0);
        left = std::min(left, difference(number_in(group.limit).value_or(unlimited),
                                         difference(used, cached_files(group.details))));
    }
    return left;
}

MemoryHeadroom::MemoryHeadroom(std::uint64_t reserve, MemoryLimits limits)
    : limits_{std::move(limits)},
      reserve_{limits_.lowest() == unlimited ? 0 : std::min(reserve, limits_.lowest() / 8)} {}

bool MemoryHeadroom::is_short_for(std::uint64_t bytes) {
    if (reserve_ == 0) return false;
    if (short_) {
        if (++unlooked_steps_ < look_steps) return true;
    } else {
        unlooked_bytes_ += bytes + step_bytes;
        if (unlooked_bytes_ < look_bytes) return false;
    }
    unlooked_bytes_ = 0;
    unlooked_steps_ = 0;
    return short_ = look(bytes);
}

/// Measures the memory. After a shortage, another quarter of the reserve must be free before steps
/// are accepted again. Otherwise steps would be accepted and rejected alternately.
bool MemoryHeadroom::look(std::uint64_t bytes) const {
    constexpr std::uint64_t copies = 3;  // In the state, in the journal row, and in SQLite.
    const auto needed = reserve_ + (short_ ? reserve_ / 4 : 0) + copies * bytes;
    return limits_.left() < needed;
}

}  // namespace routemaster::detail
