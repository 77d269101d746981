#include "job_object.hpp"

#include <utility>

#include <CLI/CLI.hpp>

#include "request_body.hpp"

namespace routemaster::service {

Value::Map job_object(const std::string& name, const std::string& arguments,
                      const std::string& options) {
    Value::Map job{{"name", name}};
    if (!arguments.empty()) job.emplace_back("arguments", json_of("arguments", arguments));
    if (!options.empty()) {
        const auto fields = json_of("--options", options);
        const auto* given = fields.get_if<Value::Map>();
        if (given == nullptr) throw CLI::ValidationError("--options", "must be an object");
        for (const auto& [field, value] : *given) {
            if (field == "name" || field == "arguments") {
                throw CLI::ValidationError("--options",
                                           "'" + field + "' must be given as an argument");
            }
            job.emplace_back(field, value);
        }
    }
    return job;
}

}  // namespace routemaster::service
