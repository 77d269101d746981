/// @file
/// Reads what scripts reply, part by part.

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
#include "routemaster/step/reply.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "wire_time.hpp"

namespace routemaster::redis {

/// Thrown for a reply that is not what the script promises.
struct Unexpected {};

/// The parts of a list, at least `count`.
[[nodiscard]] std::span<redisReply* const> items(const redisReply& reply, std::size_t count = 0);

[[nodiscard]] inline bool absent(const redisReply& reply) { return reply.type == REDIS_REPLY_NIL; }

[[nodiscard]] std::string_view text(const redisReply& reply);

/// A number, also in digits; nothing when the text is none.
[[nodiscard]] std::optional<std::int64_t> if_number(const redisReply& reply);

[[nodiscard]] std::int64_t number(const redisReply& reply);

/// Of a setting or number that somebody may have spoilt: what is none counts as absent.
[[nodiscard]] std::int64_t number_or(const redisReply& reply, std::int64_t otherwise);

/// The same, between 0 and the greatest of 31 bits.
template <class Number>
[[nodiscard]] Number within(const redisReply& reply, Number otherwise) {
    const auto value = number_or(reply, static_cast<std::int64_t>(otherwise));
    return static_cast<Number>(
        std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
}

[[nodiscard]] Uid uid(const redisReply& reply);

/// A list, of which each part is read by `read`.
template <class T, class Read>
[[nodiscard]] std::vector<T> list(const redisReply& reply, Read read) {
    std::vector<T> all;
    for (const auto* one : items(reply)) all.push_back(read(*one));
    return all;
}

// Replies of several scripts.

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

/// What a script replied, and what is needed to understand it.
struct ScriptReply {
    const redisReply& value;
    const AskedFor& asked_for;
    Duration clock_offset;  ///< That of the request.

    /// A time, as the caller understands it.
    [[nodiscard]] TimePoint time(const redisReply& part) const {
        return from_wire(number(part), clock_offset);
    }
};

}  // namespace routemaster::redis
