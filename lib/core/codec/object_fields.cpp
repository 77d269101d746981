#include "core/codec/object_fields.hpp"

#include <algorithm>
#include <cstddef>

#include "routemaster/codec/json_text.hpp"

namespace routemaster::detail {
namespace {

/// The largest number of bytes that an error quotes from a client's text.
constexpr std::size_t quoted_length_max = 64;

}  // namespace

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
        return Error{Errc::invalid, "unknown field " + quoted};
    }
    return {};
}

Result<std::optional<std::string>> optional_text(const Value& object, std::string_view field) {
    const auto* value = given(object, field);
    if (value == nullptr) return std::optional<std::string>{};
    const auto* text = value->get_if<std::string>();
    if (text == nullptr) return bad(field, "requires a string");
    return std::optional{*text};
}

Result<std::string> required_text(const Value& object, std::string_view field) {
    auto text = optional_text(object, field);
    if (!text) return text.error();
    if (!*text) return bad(field, "is missing");
    return **std::move(text);
}

Result<std::optional<std::int64_t>> integer_of(const Value& object, std::string_view field,
                                               std::int64_t least, std::int64_t most) {
    using Integer = std::optional<std::int64_t>;
    const auto* value = given(object, field);
    if (value == nullptr) return Integer{};
    const auto* number = value->get_if<std::int64_t>();
    if (number == nullptr || *number < least || *number > most) {
        return bad(field, "must be an integer from " + std::to_string(least) + " to " +
                              std::to_string(most));
    }
    return Integer{*number};
}

Result<std::optional<Duration>> span_of(const Value& object, std::string_view field) {
    const auto number = integer_of(object, field, 0, span_max.count());
    if (!number) return number.error();
    return *number ? std::optional{Duration{**number}} : std::nullopt;
}

Result<std::optional<TimePoint>> due_time_of(const Value& object, std::string_view field) {
    const auto number = integer_of(object, field, 0, to_milliseconds(due_at_max));
    if (!number) return number.error();
    return *number ? std::optional{from_milliseconds(**number)} : std::nullopt;
}

Result<bool> truth_of(const Value& object, std::string_view field, bool otherwise) {
    const auto* value = given(object, field);
    if (value == nullptr) return otherwise;
    const auto* truth = value->get_if<bool>();
    if (truth == nullptr) return bad(field, "must be true or false");
    return *truth;
}

Error bad(std::string_view field, std::string_view problem) {
    return {Errc::invalid, std::string{field} + ": " + std::string{problem}};
}

Error headed(std::string_view words, const Error& error) {
    return {error.code(), std::string{words} + ": " + error.context()};
}

}  // namespace routemaster::detail
