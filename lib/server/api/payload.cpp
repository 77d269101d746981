#include "payload.hpp"

#include <string>

#include "routemaster/codec/json.hpp"

namespace routemaster::api {

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

Error bad(std::string_view field, std::string_view problem) {
    return {Errc::invalid, std::string{field} + ": " + std::string{problem}};
}

Error headed(std::string_view words, const Error& error) {
    return {error.code(), std::string{words} + ": " + error.context()};
}

}  // namespace routemaster::api
