#include "subscription_payload.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "callback_url.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/names.hpp"
#include "routemaster/time.hpp"

namespace routemaster::api {
namespace {

/// Quotes no more of a client's text than this.
constexpr std::size_t quoted_length_max = 64;

Result<void> check_fields(const Value& payload) {
    constexpr std::array<std::string_view, 9> known{"topics",       "callback", "uuid",
                                                    "max",          "timeout",  "max_in_flight",
                                                    "attempts_max", "age_max",  "dead_max"};
    for (const auto& [field, value] : *payload.get_if<Value::Map>()) {
        if (std::find(known.begin(), known.end(), field) != known.end()) continue;
        std::string quoted;
        append_json_text(quoted, std::string_view{field}.substr(0, quoted_length_max));
        return bad("bad data in payload", "unknown field " + quoted);
    }
    return {};
}

/// In alphabetical order, each once.
Result<std::vector<std::string>> topics_of(const Value& payload, const HttpApiOptions& options) {
    const auto* field = given(payload, "topics");
    const auto* names = field == nullptr ? nullptr : field->get_if<Value::Array>();
    if (names == nullptr) return Error{Errc::invalid, "need an array of topics"};
    if (names->size() > options.topics_max) {
        return bad("topics", "must be at most " + std::to_string(options.topics_max) + " names");
    }
    const auto rule = options.event_rules.topics;
    std::vector<std::string> topics;
    topics.reserve(names->size());
    for (const auto& value : *names) {
        const auto* name = value.get_if<std::string>();
        if (name == nullptr || !is_topic_name(*name, rule)) {
            const auto place = "topics[" + std::to_string(topics.size()) + "]";
            return headed("bad topic",
                          bad(place, "must be a string of " + std::string{to_string(rule)}));
        }
        topics.push_back(*name);
    }
    std::sort(topics.begin(), topics.end());
    topics.erase(std::unique(topics.begin(), topics.end()), topics.end());
    return topics;
}

Result<std::string> callback_of(const Value& payload, bool allow_http) {
    const auto* field = given(payload, "callback");
    if (field == nullptr) return bad("callback", "URL is missing");
    const auto* url = field->get_if<std::string>();
    if (url == nullptr) return bad("callback", "requires a string");
    if (auto checked = check_callback(*url, allow_http); !checked) return checked.error();
    return *url;
}

Result<std::string> uuid_of(const Value& payload) {
    const auto* field = given(payload, "uuid");
    if (field == nullptr) return std::string{};
    const auto* uuid = field->get_if<std::string>();
    if (uuid == nullptr) return bad("uuid", "requires a string");
    if (auto checked = check({.callback = {}, .uuid = *uuid}); !checked) return checked.error();
    return *uuid;
}

Result<std::optional<std::int64_t>> integer_of(const Value& payload, std::string_view name,
                                               std::int64_t least, std::int64_t most) {
    using Integer = std::optional<std::int64_t>;
    const auto* field = asked_for(payload, name);
    if (field == nullptr) return Integer{};
    const auto* number = field->get_if<std::int64_t>();
    if (number == nullptr || *number < least || *number > most) {
        return bad(name, "must be an integer from " + std::to_string(least) + " to " +
                             std::to_string(most));
    }
    return Integer{*number};
}

Result<std::optional<Duration>> span_of(const Value& payload, std::string_view name,
                                        Duration most) {
    const auto number = integer_of(payload, name, 0, most.count());
    if (!number) return number.error();
    return *number ? std::optional{Duration{**number}} : std::nullopt;
}

Result<std::optional<std::uint32_t>> count_of(const Value& payload, std::string_view name,
                                              std::uint32_t most, std::uint32_t least = 1) {
    const auto number = integer_of(payload, name, least, most);
    if (!number) return number.error();
    return *number ? std::optional{static_cast<std::uint32_t>(**number)} : std::nullopt;
}

/// Moves what was read to its place. False, and the reason noted, when there is nothing.
template <class T>
bool take(Result<T> read, T& place, std::optional<Error>& problem) {
    if (!read) {
        problem = read.error();
        return false;
    }
    place = std::move(*read);
    return true;
}

}  // namespace

Result<Subscribe> subscription_of(std::string token, const Value& payload,
                                  const HttpApiOptions& options) {
    if (auto checked = check_fields(payload); !checked) return checked.error();
    Subscribe step{.token = std::move(token), .topics = {}, .options = {}};
    auto& wanted = step.options;
    std::optional<Error> problem;
    const bool good =
        take(topics_of(payload, options), step.topics, problem) &&
        take(callback_of(payload, options.allow_http_callbacks), wanted.callback, problem) &&
        take(uuid_of(payload), wanted.uuid, problem) &&
        take(span_of(payload, "timeout", subscription_timeout_max), wanted.timeout, problem) &&
        take(count_of(payload, "max", std::numeric_limits<std::uint32_t>::max()), wanted.max_events,
             problem) &&
        take(count_of(payload, "max_in_flight", subscription_in_flight_max), wanted.max_in_flight,
             problem) &&
        take(count_of(payload, "attempts_max", subscription_attempts_max, 0), wanted.attempts_max,
             problem) &&
        take(span_of(payload, "age_max", subscription_age_max), wanted.age_max, problem) &&
        take(count_of(payload, "dead_max", subscription_dead_max), wanted.dead_max, problem);
    if (!good) return *problem;
    return step;
}

}  // namespace routemaster::api
