#include "http_server_target.hpp"

#include "percent_encoding.hpp"

namespace routemaster::detail {
namespace {

std::string_view without_origin(std::string_view target) {
    constexpr std::string_view mark = "://";
    if (target.empty() || target.front() == '/') return target;
    const auto scheme_end = target.find(mark);
    if (scheme_end == std::string_view::npos) return target;
    const auto path = target.find('/', scheme_end + mark.size());
    return path == std::string_view::npos ? "/" : target.substr(path);
}

}  // namespace

std::optional<std::string> path_of_target(std::string_view target) {
    return percent_decoded(without_origin(target));
}

}  // namespace routemaster::detail
