/// @file
/// Extracts the name of an encoded job.

#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "routemaster/codec/msgpack.hpp"

namespace routemaster::detail {

/// The name of an encoded job. Empty when the bytes are not a job.
[[nodiscard]] inline std::string name_of_job(std::string_view bytes) {
    auto job = decode_job(bytes);
    return job ? std::move(job->name) : std::string{};
}

}  // namespace routemaster::detail
