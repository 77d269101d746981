#include "request_body.hpp"

#include <utility>

#include <CLI/CLI.hpp>

#include "routemaster/codec/json.hpp"

namespace routemaster::service {

Value json_of(const std::string& setting, const std::string& text) {
    auto value = parse_json(text);
    if (!value) throw CLI::ValidationError(setting, value.error().context());
    return *std::move(value);
}

std::string body_of(Value::Map fields) {
    const Value object{std::move(fields)};
    std::string body;
    append_json(body, object);
    const auto carried = parse_json(body);
    if (!carried || *carried != object) {
        throw CLI::ValidationError("arguments",
                                   "must be UTF-8, without numbers that JSON does not have");
    }
    return body;
}

}  // namespace routemaster::service
