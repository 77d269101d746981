/// @file
/// Encodes the metadata of jobs as a text, which scripts store and return without parsing it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/script_reply.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_metadata.hpp"
#include "routemaster/value.hpp"

namespace routemaster::redis {

inline std::string packed(const JobMetadata& metadata) {
    Value::Map map;
    for (const auto& [name, text] : metadata) map.emplace_back(name, Value{text});
    return encode(Value{std::move(map)});
}

/// The reverse of `packed`. Unreadable entries are ignored.
inline JobMetadata unpacked(std::string_view bytes) {
    JobMetadata metadata;
    const auto value = decode_value(bytes);
    const auto* map = value ? value->get_if<Value::Map>() : nullptr;
    if (map == nullptr) return metadata;
    for (const auto& [name, text] : *map) {
        if (const auto* one = text.get_if<std::string>()) metadata.emplace(name, *one);
    }
    return metadata;
}

/// Element of a reply: either the timeout of a job alone, or a list of the timeout, the metadata,
/// the priority, the rarely used options, and the ids of the jobs that it waits for.
struct TimeoutPart {
    explicit TimeoutPart(const redisReply& part) {
        if (part.type != REDIS_REPLY_ARRAY) {
            timeout = Duration{number(part)};
            return;
        }
        const auto both = items(part, 2);
        timeout = Duration{number(*both[0])};
        metadata = unpacked(text(*both[1]));
        if (both.size() > 2) priority = static_cast<std::int32_t>(number(*both[2]));
        if (both.size() > 3) further = text(*both[3]);
        if (both.size() <= 4) return;
        after = list<JobId>(*both[4], [](const redisReply& id) { return count(id).value; });
    }

    Duration timeout{0};
    JobMetadata metadata;
    std::int32_t priority = 0;
    std::string further;       ///< See further_options.hpp.
    std::vector<JobId> after;  ///< Present only in the status of a job.
};

}  // namespace routemaster::redis
