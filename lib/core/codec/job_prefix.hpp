/// @file
/// Which encoded jobs have a name.

#pragma once

#include <string>
#include <string_view>

#include "core/codec/msgpack_writer.hpp"

namespace routemaster::detail {

/// What each job of that name begins with, as `encode_job` encodes it.
[[nodiscard]] inline std::string job_prefix(std::string_view name) {
    std::string out;
    StringStream stream{out};
    MsgpackWriter writer{stream};
    writer.begin_array(2);
    writer.text(name);
    return out;
}

}  // namespace routemaster::detail
