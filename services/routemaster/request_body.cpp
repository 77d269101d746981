#include "request_body.hpp"

#include <utility>

#include <CLI/CLI.hpp>

#include "routemaster/codec/json.hpp"

namespace routemaster::service {

std::string body_of(Value::Map fields) {
    const Value object{std::move(fields)};
    std::string body;
    append_json(body, object);
    const auto carried = parse_json(body);
    if (!carried || *carried != object) {
        throw CLI::ValidationError("arguments", "must be UTF-8, and no numbers that JSON has not");
    }
    return body;
}

}  // namespace routemaster::service
