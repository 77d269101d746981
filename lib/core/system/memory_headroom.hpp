/// @file
/// How much memory this process may still allocate.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace routemaster::detail {

/// The memory limits of this process: of its address space (`ulimit -v`), of its data (`ulimit
/// -d`), of its cgroup and of the parent cgroups.
///
/// Thread safety: as a const value.
class MemoryLimits {
public:
    /// Finds the cgroups of this process with a memory limit. Only tests pass folders different
    /// from the system's.
    explicit MemoryLimits(const std::filesystem::path& process = "/proc/self",
                          const std::filesystem::path& cgroups = "/sys/fs/cgroup");

    /// The lowest of the limits, in bytes; the greatest number if there is none.
    [[nodiscard]] std::uint64_t lowest() const;

    /// The number of bytes still available below the nearest limit. Free memory inside the heap
    /// counts as available, and files cached by the kernel for a cgroup count, too.
    [[nodiscard]] std::uint64_t left() const;

private:
    /// A cgroup with a limit, by its files.
    struct Group {
        std::filesystem::path limit;
        std::filesystem::path used;
        std::filesystem::path details;
    };

    void add(const std::filesystem::path& folder, const char* limit, const char* used);

    std::filesystem::path process_;
    std::vector<Group> groups_;
};

/// Admission check that rejects new data early enough for memory to remain for the delivery of
/// existing data. It measures the memory once per mebibyte of data, and costs nothing in between.
///
/// Not thread safe.
class MemoryHeadroom {
public:
    /// Reserves `reserve` bytes, or an eighth of the lowest limit if that is less. Without a
    /// reserve or without a limit, no step is rejected.
    explicit MemoryHeadroom(std::uint64_t reserve, MemoryLimits limits = MemoryLimits{});

    /// Whether memory is too short to accept a step with `bytes` of payload.
    [[nodiscard]] bool is_short_for(std::uint64_t bytes);

private:
    [[nodiscard]] bool look(std::uint64_t bytes) const;

    MemoryLimits limits_;
    std::uint64_t reserve_;
    std::uint64_t unlooked_bytes_ = 0;
    std::uint32_t unlooked_steps_ = 0;
    bool short_ = false;
};

}  // namespace routemaster::detail
