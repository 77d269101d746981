#include "rate.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "answers.hpp"

namespace routemaster::service {
namespace {

/// Units and their lengths in milliseconds, the longest first.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}}};

/// Removes a whole number of less than ten digits from the beginning, if there is one.
std::optional<std::uint32_t> take_number(std::string_view& text) {
    constexpr std::size_t digits_max = 9;
    std::uint32_t number = 0;
    const auto* const end = text.data() + std::min(text.size(), digits_max);
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return number;
}

}  // namespace

std::optional<RateLimit> parse_rate(std::string_view text) {
    const auto jobs = take_number(text);
    if (!jobs || !text.starts_with('/')) return std::nullopt;
    text.remove_prefix(1);
    const std::int64_t count = take_number(text).value_or(1);
    for (const auto& [unit, length] : units) {
        if (text != unit) continue;
        const RateLimit limit{.jobs = *jobs, .per = Duration{count * length}};
        return RateLimits{.queue = limit}.check() ? std::optional{limit} : std::nullopt;
    }
    return std::nullopt;
}

Value limit_of(std::string_view rate, std::optional<std::uint32_t> burst) {
    const auto limit = parse_rate(rate).value();
    Value::Map map{{"jobs", limit.jobs}, {"per", limit.per.count()}};
    if (burst) map.emplace_back("burst", *burst);
    return Value{std::move(map)};
}

std::string printed_rate(const Value& limit) {
    if (limit.is_null()) return "-";
    const auto jobs = number(limit, "jobs");
    const auto per = number(limit, "per");
    const auto burst = number(limit, "burst");
    auto text = std::to_string(jobs) + "/";
    for (const auto& [unit, length] : units) {
        if (per % length != 0) continue;
        if (per != length) text += std::to_string(per / length);
        text += unit;
        break;
    }
    return burst == jobs ? text : text + " burst " + std::to_string(burst);
}

}  // namespace routemaster::service
