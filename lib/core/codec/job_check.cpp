#include "core/codec/job_check.hpp"

#include <cstddef>
#include <string>

#include "core/codec/json_check.hpp"
#include "core/codec/utf8.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::detail {

Result<void> check_job(const Job& job) {
    // Reserves two levels for the encoded job: an array that contains the array of arguments.
    constexpr std::size_t depth_max = msgpack_depth_max - 2;
    if (job.name.empty()) return Error{Errc::invalid, "name: must not be empty"};
    if (!is_utf8(job.name) || job.name.find('\0') != std::string::npos) {
        return Error{Errc::invalid, "name: must be UTF-8 without NUL"};
    }
    for (const auto& argument : job.arguments) {
        auto checked = check_for_json(argument, "arguments", depth_max);
        if (!checked) return checked;
    }
    return {};
}

}  // namespace routemaster::detail
