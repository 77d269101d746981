/// @file
/// `JobMetadata`: named texts of a job for middleware and tools, besides the arguments.

#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace routemaster {

/// Map from names to texts, for example a trace context, or the user who requested the job.
using JobMetadata = std::map<std::string, std::string>;

/// Maximum number of entries in a job's metadata.
inline constexpr std::size_t job_metadata_max = 32;

/// Maximum bytes of all names and texts in a job's metadata.
inline constexpr std::size_t job_metadata_bytes_max = 4'096;

/// Returns the bytes of all names and texts.
[[nodiscard]] inline std::size_t bytes_of(const JobMetadata& metadata) noexcept {
    std::size_t bytes = 0;
    for (const auto& [name, text] : metadata) bytes += name.size() + text.size();
    return bytes;
}

}  // namespace routemaster
