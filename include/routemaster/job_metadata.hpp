/// @file
/// Metadata of jobs: texts for middleware and tools, besides the arguments.

#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace routemaster {

/// Texts by their names: a trace context, for example, or the user who requested the job.
using JobMetadata = std::map<std::string, std::string>;

/// The most entries of a job.
inline constexpr std::size_t job_metadata_max = 32;

/// The most bytes of all names and texts of a job together.
inline constexpr std::size_t job_metadata_bytes_max = 4'096;

/// The bytes of all names and texts.
[[nodiscard]] inline std::size_t bytes_of(const JobMetadata& metadata) noexcept {
    std::size_t bytes = 0;
    for (const auto& [name, text] : metadata) bytes += name.size() + text.size();
    return bytes;
}

}  // namespace routemaster
