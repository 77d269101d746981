/// @file
/// Parses the replies of scripts.

#pragma once

#include <hiredis/hiredis.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "request.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "wire_time.hpp"

namespace routemaster::redis {

/// Thrown for a reply that the script cannot have sent.
struct Unexpected {};

/// The elements of a list. Throws if there are fewer than `count`.
[[nodiscard]] std::span<redisReply* const> items(const redisReply& reply, std::size_t count = 0);

[[nodiscard]] inline bool absent(const redisReply& reply) { return reply.type == REDIS_REPLY_NIL; }

[[nodiscard]] std::string_view text(const redisReply& reply);

/// Parses a number or a text with a number. Empty if the text is no number.
[[nodiscard]] std::optional<std::int64_t> if_number(const redisReply& reply);

[[nodiscard]] std::int64_t number(const redisReply& reply);

/// Parses a setting that another program may have damaged. If it is no number, returns `otherwise`.
[[nodiscard]] std::int64_t number_or(const redisReply& reply, std::int64_t otherwise);

/// As above, clamped to 0..2^31 - 1.
template <class Number>
[[nodiscard]] Number within(const redisReply& reply, Number otherwise) {
    const auto value = number_or(reply, static_cast<std::int64_t>(otherwise));
    return static_cast<Number>(
        std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
}

[[nodiscard]] Uid uid(const redisReply& reply);

template <class T, class Read>
[[nodiscard]] std::vector<T> list(const redisReply& reply, Read read) {
    std::vector<T> all;
    for (const auto* one : items(reply)) all.push_back(read(*one));
    return all;
}

[[nodiscard]] inline Removal removal(const redisReply& reply) {
    return number(reply) == 1 ? Removal::removed : Removal::unknown;
}
[[nodiscard]] inline Settlement settlement(const redisReply& reply) {
    return number(reply) == 1 ? Settlement::settled : Settlement::lease_lost;
}
[[nodiscard]] inline Count count(const redisReply& reply) {
    return {static_cast<std::uint64_t>(std::max<std::int64_t>(number(reply), 0))};
}
[[nodiscard]] inline Dropped dropped(const redisReply& reply) {
    const auto parts = items(reply, 2);
    return {count(*parts[0]).value, count(*parts[1]).value};
}

struct ScriptReply {
    const redisReply& value;
    const AskedFor& asked_for;
    Duration clock_offset;

    [[nodiscard]] TimePoint time(const redisReply& part) const {
        return from_wire(number(part), clock_offset);
    }
};

}  // namespace routemaster::redis
