#include "payload.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "routemaster/codec/json.hpp"
#include "routemaster/codec/json_text.hpp"

namespace routemaster::api {
namespace {

/// The most bytes of a client's text that an error quotes.
constexpr std::size_t quoted_length_max = 64;

}  // namespace

Result<Value> json_object(std::string_view body) {
    auto value = parse_json(body);
    if (value && value->get_if<Value::Map>() == nullptr) return bad("JSON", "must be an object");
    return value;
}

const Value* given(const Value& object, std::string_view field) noexcept {
    const auto* value = object.find(field);
    return value == nullptr || value->is_null() ? nullptr : value;
}

const Value* asked_for(const Value& object, std::string_view field) noexcept {
    const auto* value = given(object, field);
    const auto* truth = value == nullptr ? nullptr : value->get_if<bool>();
    return truth != nullptr && !*truth ? nullptr : value;
}

Result<void> check_fields(const Value& object, std::span<const std::string_view> known) {
    for (const auto& [field, value] : *object.get_if<Value::Map>()) {
        if (std::find(known.begin(), known.end(), field) != known.end()) continue;
        std::string quoted;
        append_json_text(quoted, std::string_view{field}.substr(0, quoted_length_max));
        return bad("bad data in payload", "unknown field " + quoted);
    }
    return {};
}

Result<void> check_no_fields(std::string_view body) {
    if (body.empty()) return {};
    const auto payload = json_object(body);
    return payload ? check_fields(*payload, {}) : payload.error();
}

Result<std::optional<std::int64_t>> integer_of(const Value& object, std::string_view field,
                                               std::int64_t least, std::int64_t most) {
    using Integer = std::optional<std::int64_t>;
    const auto* value = asked_for(object, field);
    if (value == nullptr) return Integer{};
    const auto* number = value->get_if<std::int64_t>();
    if (number == nullptr || *number < least || *number > most) {
        return bad(field, "must be an integer from " + std::to_string(least) + " to " +
                              std::to_string(most));
    }
    return Integer{*number};
}

Error bad(std::string_view field, std::string_view problem) {
    return {Errc::invalid, std::string{field} + ": " + std::string{problem}};
}

Error headed(std::string_view words, const Error& error) {
    return {error.code(), std::string{words} + ": " + error.context()};
}

}  // namespace routemaster::api
