/// @file
/// Rarely used options of jobs, as stored on the server: MessagePack of a map by option names.
/// Unknown names are ignored.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job.hpp"
#include "routemaster/value.hpp"

namespace routemaster::redis {

/// Encodes the rarely used options of a job. Empty if all have their defaults.
inline std::string packed_further(const JobOptions& options) {
    Value::Map map;
    if (!options.group.empty()) map.emplace_back("group", Value{options.group});
    if (options.concurrency != 1) map.emplace_back("concurrency", options.concurrency);
    if (options.batch != 0) map.emplace_back("batch", options.batch);
    return map.empty() ? std::string{} : encode(Value{std::move(map)});
}

/// The reverse of `packed_further`. Unreadable options are ignored.
inline void unpack_further(std::string_view bytes, JobOptions& options) {
    if (bytes.empty()) return;
    const auto value = decode_value(bytes);
    const auto* map = value ? value->get_if<Value::Map>() : nullptr;
    if (map == nullptr) return;
    for (const auto& [name, further] : *map) {
        const auto* group = further.get_if<std::string>();
        const auto* concurrency = further.get_if<std::int64_t>();
        if (name == "group" && group != nullptr) options.group = *group;
        if (name == "concurrency" && concurrency != nullptr) {
            options.concurrency = static_cast<std::uint32_t>(
                std::clamp<std::int64_t>(*concurrency, 1, group_concurrency_max));
        }
        const auto* batch = further.get_if<std::int64_t>();
        if (name == "batch" && batch != nullptr && *batch > 0) {
            options.batch = static_cast<JobBatchId>(*batch);
        }
    }
}

inline JobBatchId batch_in(std::string_view bytes) {
    if (bytes.empty()) return 0;
    JobOptions options;
    unpack_further(bytes, options);
    return options.batch;
}

}  // namespace routemaster::redis
