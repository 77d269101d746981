#include "core/codec/recurring_settings.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {
namespace {

std::optional<std::string> text(const Value& map, std::string_view key) {
    const auto* value = map.find(key);
    const auto* found = value == nullptr ? nullptr : value->get_if<std::string>();
    return found == nullptr ? std::nullopt : std::optional{*found};
}

std::int64_t number(const Value& map, std::string_view key, std::int64_t otherwise) {
    const auto* value = map.find(key);
    const auto* found = value == nullptr ? nullptr : value->get_if<std::int64_t>();
    return found == nullptr ? otherwise : *found;
}

Value encoded(const RecurringTimer& timer) {
    Value::Map map{{"space", timer.space}, {"payload", timer.payload}};
    if (timer.retries_max != 0) {
        map.emplace_back("retries_max", static_cast<std::int64_t>(timer.retries_max));
    }
    if (timer.confirm_within != Duration{0}) {
        map.emplace_back("confirm_within", timer.confirm_within.count());
    }
    return Value{std::move(map)};
}

std::optional<RecurringTimer> decoded(const Value& map) {
    auto space = text(map, "space");
    auto payload = text(map, "payload");
    if (!space || !payload) return std::nullopt;
    RecurringTimer timer{.space = *std::move(space), .payload = *std::move(payload)};
    timer.retries_max = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(number(map, "retries_max", 0), 0, timer_retries_max));
    timer.confirm_within = Duration{number(map, "confirm_within", 0)};
    return timer;
}

}  // namespace

std::string encode_settings(const RecurringSettings& settings) {
    static const RecurringSettings usual;
    Value::Map map{{"schedule", settings.schedule},
                   {"time_zone", settings.time_zone},
                   {"queue", settings.queue},
                   {"job", settings.job}};
    const auto add = [&map](const char* key, auto value, auto otherwise) {
        if (value != otherwise) map.emplace_back(key, static_cast<std::int64_t>(value));
    };
    add("catch_up", static_cast<int>(settings.catch_up), static_cast<int>(usual.catch_up));
    add("overlap", settings.overlap ? 1 : 0, 0);
    add("attempts_max", settings.attempts_max, usual.attempts_max);
    add("priority", settings.priority, usual.priority);
    add("timeout", settings.timeout.count(), usual.timeout.count());
    add("expires", settings.expires.count(), usual.expires.count());
    if (!settings.metadata.empty()) {
        Value::Map metadata;
        for (const auto& [name, entry] : settings.metadata) metadata.emplace_back(name, entry);
        map.emplace_back("metadata", std::move(metadata));
    }
    if (settings.timer) map.emplace_back("timer", encoded(*settings.timer));
    return encode(Value{std::move(map)});
}

Result<RecurringSettings> decode_settings(std::string_view bytes) {
    const Error damaged{Errc::corrupted, "MessagePack: not the settings of a recurring job"};
    const auto map = decode_value(bytes);
    if (!map) return damaged;
    auto schedule = text(*map, "schedule");
    auto time_zone = text(*map, "time_zone");
    auto queue = text(*map, "queue");
    auto job = text(*map, "job");
    if (!schedule || !time_zone || !queue || !job) return damaged;
    RecurringSettings settings{.schedule = *std::move(schedule),
                               .time_zone = *std::move(time_zone),
                               .queue = *std::move(queue),
                               .job = *std::move(job)};
    const auto catch_up = number(*map, "catch_up", static_cast<int>(settings.catch_up));
    settings.catch_up = static_cast<CatchUp>(std::clamp<std::int64_t>(catch_up, 0, 2));
    settings.overlap = number(*map, "overlap", 0) != 0;
    settings.attempts_max = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(number(*map, "attempts_max", settings.attempts_max), 0,
                                 std::numeric_limits<std::uint32_t>::max()));
    settings.priority = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(number(*map, "priority", 0), -priority_max, priority_max));
    settings.timeout = Duration{number(*map, "timeout", 0)};
    settings.expires = Duration{number(*map, "expires", 0)};
    if (const auto* metadata = map->find("metadata")) {
        if (const auto* entries = metadata->get_if<Value::Map>()) {
            for (const auto& [name, entry] : *entries) {
                if (const auto* one = entry.get_if<std::string>()) {
                    settings.metadata.emplace(name, *one);
                }
            }
        }
    }
    if (const auto* timer = map->find("timer")) {
        settings.timer = decoded(*timer);
        if (!settings.timer) return damaged;
    }
    return settings;
}

}  // namespace routemaster::detail
