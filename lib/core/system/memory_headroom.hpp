/// @file
/// The memory left to this process under its limits.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace routemaster::detail {

/// The memory limits of this process: its address space (`ulimit -v`), its data (`ulimit -d`), its
/// cgroup and the cgroups above.
///
/// Thread safety: as a const value.
class MemoryLimits {
public:
    /// Finds the cgroups of this process with a limit. The folders are for tests.
    explicit MemoryLimits(const std::filesystem::path& process = "/proc/self",
                          const std::filesystem::path& cgroups = "/sys/fs/cgroup");

    /// The lowest limit; the greatest number without a limit.
    [[nodiscard]] std::uint64_t lowest() const;

    /// Bytes left below the nearest limit. Free memory inside the heap counts, and files cached by
    /// the kernel for a cgroup.
    [[nodiscard]] std::uint64_t left() const;

private:
    /// A level of cgroups, by its files.
    struct Group {
        std::filesystem::path limit;
        std::filesystem::path used;
        std::filesystem::path details;
    };

    void add(const std::filesystem::path& folder, const char* limit, const char* used);

    std::filesystem::path process_;
    std::vector<Group> groups_;
};

/// Tells when to refuse new data, so that memory remains to deliver existing data. Reads the limits
/// once per mebibyte of data, and costs nothing in between.
///
/// Not thread safe.
class MemoryHeadroom {
public:
    /// Keeps `reserve` bytes, or an eighth of the lowest limit if less. Without a reserve or a
    /// limit, memory is never short.
    explicit MemoryHeadroom(std::uint64_t reserve, MemoryLimits limits = MemoryLimits{});

    /// Whether memory is short for a step with `bytes` of payload.
    [[nodiscard]] bool is_short_for(std::uint64_t bytes);

private:
    [[nodiscard]] bool look(std::uint64_t bytes) const;

    MemoryLimits limits_;
    std::uint64_t reserve_;
    std::uint64_t unlooked_bytes_ = 0;  // Accepted since the last measurement.
    std::uint32_t unlooked_steps_ = 0;  // Refused since the last measurement.
    bool short_ = false;
};

}  // namespace routemaster::detail
