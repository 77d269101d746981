/// @file
/// Encodes the profiles of workers as MessagePack maps. Scripts store and return profiles without
/// parsing.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// Reader for the fields of a profile, possibly written by another program. Values outside the
/// bounds of `WorkerProfile` are clamped.
class ProfileFields {
public:
    explicit ProfileFields(Value map) : map_{std::move(map)} {}

    [[nodiscard]] std::string text(std::string_view field) const {
        const auto* found = find<std::string>(field);
        return found == nullptr ? std::string{} : found->substr(0, profile_name_bytes_max);
    }

    /// A number from 0 to `most`; 0 if the field is absent.
    [[nodiscard]] std::int64_t number(std::string_view field, std::int64_t most) const {
        const auto* found = find<std::int64_t>(field);
        return found == nullptr ? 0 : std::clamp<std::int64_t>(*found, 0, most);
    }

    [[nodiscard]] bool has_number(std::string_view field) const {
        return find<std::int64_t>(field) != nullptr;
    }

    /// The names in a list. Too long names are omitted.
    [[nodiscard]] std::vector<std::string> names(std::string_view field) const {
        std::vector<std::string> names;
        const auto* found = find<Value::Array>(field);
        if (found == nullptr) return names;
        for (const auto& each : *found) {
            if (names.size() == profile_names_max) break;
            const auto* name = each.get_if<std::string>();
            if (name != nullptr && name->size() <= profile_name_bytes_max) names.push_back(*name);
        }
        return names;
    }

    /// The length of a list, including names omitted by `names`.
    [[nodiscard]] std::size_t size(std::string_view field) const {
        const auto* found = find<Value::Array>(field);
        return found == nullptr ? 0 : found->size();
    }

private:
    template <class T>
    [[nodiscard]] const T* find(std::string_view field) const {
        const auto* value = map_.find(field);
        return value == nullptr ? nullptr : value->get_if<T>();
    }

    Value map_;
};

/// Decodes a profile. Missing or damaged fields have their defaults; damaged `others` are unknown.
/// Nothing if `bytes` are not a MessagePack map.
inline std::optional<WorkerProfile> profile_in(std::string_view bytes, const ScriptReply& reply) {
    using Others = WorkerProfile::Others;
    constexpr std::int64_t number_max = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t silence_max = 2 * 86'400'000;
    auto read = decode_value(bytes);
    if (!read || read->get_if<Value::Map>() == nullptr) return std::nullopt;
    const ProfileFields fields{*std::move(read)};
    const auto unknown = static_cast<std::int64_t>(Others::unknown);
    const auto listed = static_cast<std::uint64_t>(fields.number("handlers_total", number_max));
    return WorkerProfile{
        .name = fields.text("name"),
        .host = fields.text("host"),
        .process = static_cast<std::uint64_t>(fields.number("process", wire_never)),
        .since = from_wire(fields.number("since", wire_never), reply.clock_offset),
        .queues = fields.names("queues"),
        .handlers = fields.names("handlers"),
        .handlers_total = std::max<std::uint64_t>(listed, fields.size("handlers")),
        .others = static_cast<Others>(fields.has_number("others") ? fields.number("others", unknown)
                                                                  : unknown),
        .capacity = static_cast<std::uint32_t>(fields.number("capacity", number_max)),
        .silence = Duration{fields.number("silence", silence_max)}};
}

/// Parses the result of the Lua function queue_workers(). `handler` is that of `FindQueueWorkers`.
inline QueueWorkers queue_workers_in(const redisReply& part, const ScriptReply& reply,
                                     std::string_view handler) {
    const auto parts = items(part, 3);
    QueueWorkers all{.unprofiled = count(*parts[0]).value};
    if (number(*parts[1]) >= 0) all.last_at = reply.time(*parts[1]);
    for (std::size_t i = 3; i + 2 < parts.size(); i += 3) {
        // A worker with an unreadable profile counts as a worker with any handler.
        const WorkerProfile unreadable{.others = WorkerProfile::Others::unknown};
        const auto profile = profile_in(text(*parts[i]), reply);
        detail::count_worker(all, profile.value_or(unreadable),
                             within<std::uint32_t>(*parts[i + 1], 0U), reply.time(*parts[i + 2]),
                             handler);
    }
    const auto unread = count(*parts[2]).value;
    all.workers += unread;
    all.handling += unread;
    return all;
}

}  // namespace routemaster::redis
