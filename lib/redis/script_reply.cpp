#include "script_reply.hpp"

#include <charconv>

namespace routemaster::redis {

std::span<redisReply* const> items(const redisReply& reply, std::size_t count) {
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements < count) throw Unexpected{};
    return {reply.element, reply.elements};
}

std::string_view text(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_STRING) throw Unexpected{};
    return {reply.str, static_cast<std::size_t>(reply.len)};
}

std::optional<std::int64_t> if_number(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_INTEGER) return reply.integer;
    const auto digits = text(reply);
    std::int64_t value = 0;
    const auto* end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, value).ptr != end) return std::nullopt;
    return value;
}

std::int64_t number(const redisReply& reply) {
    const auto value = if_number(reply);
    if (!value) throw Unexpected{};
    return *value;
}

std::int64_t number_or(const redisReply& reply, std::int64_t otherwise) {
    return absent(reply) ? otherwise : if_number(reply).value_or(otherwise);
}

Uid uid(const redisReply& reply) {
    const auto parsed = Uid::parse(text(reply));
    if (!parsed) throw Unexpected{};
    return *parsed;
}

}  // namespace routemaster::redis
