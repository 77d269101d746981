/// @file
/// Finds encoded jobs by name.

#pragma once

#include <string>
#include <string_view>

#include "core/codec/msgpack_writer.hpp"

namespace routemaster::detail {

/// The first bytes of every job with this name, as `encode_job` encodes it.
[[nodiscard]] inline std::string job_prefix(std::string_view name) {
    std::string out;
    StringStream stream{out};
    MsgpackWriter writer{stream};
    writer.begin_array(2);
    writer.text(name);
    return out;
}

}  // namespace routemaster::detail
