#include "payload.hpp"

#include "routemaster/codec/json.hpp"

namespace routemaster::api {

Result<Value> json_object(std::string_view body) {
    auto value = parse_json(body);
    if (value && value->get_if<Value::Map>() == nullptr) return bad("JSON", "must be an object");
    return value;
}

Result<void> check_no_fields(std::string_view body) {
    if (body.empty()) return {};
    const auto payload = json_object(body);
    return payload ? check_fields(*payload, {}) : payload.error();
}

}  // namespace routemaster::api
