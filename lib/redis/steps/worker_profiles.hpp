/// @file
/// Profiles of workers, as the server stores them: MessagePack maps that scripts pass on.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/queue_workers.hpp"
#include "redis/script_reply.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/value.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster::redis {

inline std::string packed(const WorkerProfile& profile, const Request& request) {
    const auto list_of = [](const std::vector<std::string>& names) {
        return Value::Array{names.begin(), names.end()};
    };
    return encode(Value{Value::Map{{"name", profile.name},
                                   {"host", profile.host},
                                   {"process", profile.process},
                                   {"since", request.wire(profile.since)},
                                   {"queues", list_of(profile.queues)},
                                   {"handlers", list_of(profile.handlers)},
                                   {"handlers_total", profile.handlers_total},
                                   {"others", static_cast<int>(profile.others)},
                                   {"capacity", profile.capacity},
                                   {"silence", profile.silence.count()}}});
}

/// Reads a profile. Missing or damaged fields have their defaults; damaged `others` are unknown.
inline WorkerProfile profile_in(std::string_view bytes, const ScriptReply& reply) {
    const auto read = decode_value(bytes);
    const Value map = read ? *read : Value{};
    const auto text_at = [&map](std::string_view key) {
        const auto* value = map.find(key);
        const auto* found = value == nullptr ? nullptr : value->get_if<std::string>();
        return found == nullptr ? std::string{} : *found;
    };
    const auto number_at = [&map](std::string_view key, std::int64_t otherwise) {
        const auto* value = map.find(key);
        const auto* found = value == nullptr ? nullptr : value->get_if<std::int64_t>();
        return found == nullptr ? otherwise : *found;
    };
    const auto names_at = [&map](std::string_view key) {
        std::vector<std::string> names;
        const auto* value = map.find(key);
        const auto* found = value == nullptr ? nullptr : value->get_if<Value::Array>();
        if (found == nullptr) return names;
        for (const auto& each : *found) {
            if (const auto* name = each.get_if<std::string>()) names.push_back(*name);
        }
        return names;
    };
    using Others = WorkerProfile::Others;
    const auto others = number_at("others", static_cast<int>(Others::unknown));
    return {.name = text_at("name"),
            .host = text_at("host"),
            .process = static_cast<std::uint64_t>(number_at("process", 0)),
            .since = from_wire(number_at("since", 0), reply.clock_offset),
            .queues = names_at("queues"),
            .handlers = names_at("handlers"),
            .handlers_total = static_cast<std::uint64_t>(number_at("handlers_total", 0)),
            .others = static_cast<Others>(
                std::clamp<std::int64_t>(others, 0, static_cast<int>(Others::unknown))),
            .capacity = static_cast<std::uint32_t>(number_at("capacity", 0)),
            .silence = Duration{number_at("silence", 0)}};
}

/// Reads the reply of queue_workers() of the scripts. `handler` is as in `FindQueueWorkers`.
inline QueueWorkers queue_workers_in(const redisReply& part, const ScriptReply& reply,
                                     std::string_view handler) {
    const auto parts = items(part, 3);
    QueueWorkers all{.unprofiled = count(*parts[0]).value};
    if (number(*parts[1]) >= 0) all.last_at = reply.time(*parts[1]);
    for (std::size_t i = 3; i + 2 < parts.size(); i += 3) {
        detail::count_worker(all, profile_in(text(*parts[i]), reply),
                             within<std::uint32_t>(*parts[i + 1], 0U), reply.time(*parts[i + 2]),
                             handler);
    }
    const auto unread = count(*parts[2]).value;
    all.workers += unread;
    all.handling += unread;
    return all;
}

}  // namespace routemaster::redis
