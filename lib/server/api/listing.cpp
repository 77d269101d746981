#include "listing.hpp"

#include <charconv>
#include <system_error>

#include "../percent_encoding.hpp"
#include "payload.hpp"

namespace routemaster::api {
namespace {

Result<void> read(Page& page, std::string_view name, const std::string& value) {
    if (name == "after") page.after = value;
    if (name != "limit") return {};
    const auto* const end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, page.limit);
    if (error != std::errc{} || stopped != end || page.limit == 0 || page.limit > page_limit_max) {
        return bad("limit", "must be an integer from 1 to " + std::to_string(page_limit_max));
    }
    return {};
}

}  // namespace

Result<Page> page_query(std::string_view query) {
    Page page{.after = {}, .limit = page_limit_max};
    while (!query.empty()) {
        const auto parameter = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), parameter.size() + 1));
        const auto name = parameter.substr(0, parameter.find('='));
        const auto value =
            detail::percent_decoded(parameter.substr(std::min(parameter.size(), name.size() + 1)));
        if (!value) return bad(name, "contains a % without two hexadecimal digits");
        if (auto done = read(page, name, *value); !done) return done.error();
    }
    return page;
}

std::string next_link(std::string_view path, std::string_view last, std::uint32_t limit) {
    return '<' + std::string{path} + "?after=" + detail::percent_encoded(last) +
           "&limit=" + std::to_string(limit) + ">; rel=\"next\"";
}

}  // namespace routemaster::api
