#include "http_server_target.hpp"

#include <charconv>

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
    target = without_origin(target);
    std::string path;
    path.reserve(target.size());
    for (auto escape = target.find('%'); escape != std::string_view::npos;
         escape = target.find('%')) {
        path += target.substr(0, escape);
        const auto digits = target.substr(escape + 1, 2);
        unsigned char byte = 0;
        const auto* const end = digits.data() + digits.size();
        if (digits.size() != 2 || std::from_chars(digits.data(), end, byte, 16).ptr != end) {
            return std::nullopt;
        }
        path += static_cast<char>(byte);
        target.remove_prefix(escape + 3);
    }
    path += target;
    return path;
}

}  // namespace routemaster::detail
