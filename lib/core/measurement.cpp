#include "routemaster/measurement.hpp"

namespace routemaster {

std::string to_string(const Measurement& measurement) {
    std::string line{to_string(measurement.kind)};
    line.append(":").append(measurement.name).append(":");
    line.append(std::to_string(measurement.value)).append(" (");
    const char* separator = "";
    for (const auto& [name, value] : measurement.tags) {
        line.append(separator).append(name).append(":").append(value);
        separator = ",";
    }
    return line.append(")");
}

}  // namespace routemaster
