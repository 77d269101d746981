/// @file
/// Metadata of jobs: what middleware and tools want to know of a job, beside its arguments.

#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace routemaster {

/// Texts by their names: a trace context, for example, or who asked for the job.
using JobMetadata = std::map<std::string, std::string>;

/// Entries that a job has at most.
inline constexpr std::size_t job_metadata_max = 32;

/// Bytes of all its names and texts together, at most.
inline constexpr std::size_t job_metadata_bytes_max = 4'096;

/// Bytes of all names and texts.
[[nodiscard]] inline std::size_t bytes_of(const JobMetadata& metadata) noexcept {
    std::size_t bytes = 0;
    for (const auto& [name, text] : metadata) bytes += name.size() + text.size();
    return bytes;
}

}  // namespace routemaster
