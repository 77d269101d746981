#include "listing.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "http_server/percent_encoding.hpp"
#include "payload.hpp"

namespace routemaster::api {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stopped == end;
}

struct Parameter {
    std::string_view name;
    std::optional<std::string> value;  // Nothing if its percent-encoding is malformed.
};

/// Removes and returns the first parameter of a query, which must not be empty.
Parameter next_parameter(std::string_view& query) {
    const auto parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), parameter.size() + 1));
    const auto name = parameter.substr(0, parameter.find('='));
    return {name,
            detail::percent_decoded(parameter.substr(std::min(parameter.size(), name.size() + 1)))};
}

Error badly_encoded(std::string_view name) {
    return bad(name, "contains a % without two hexadecimal digits");
}

Result<void> read(PageQuery& page, std::string_view name, const std::string& value) {
    if (name == "after") page.after = value;
    if (name == "skip" && !read_number(value, page.skip)) {
        return bad("skip", "must be a number of items");
    }
    if (name != "limit") return {};
    if (!read_number(value, page.limit) || page.limit == 0 || page.limit > page_limit_max) {
        return bad("limit", "must be an integer from 1 to " + std::to_string(page_limit_max));
    }
    return {};
}

}  // namespace

Result<PageQuery> page_query(std::string_view query) {
    PageQuery page;
    while (!query.empty()) {
        const auto [name, value] = next_parameter(query);
        if (!value) return badly_encoded(name);
        if (auto done = read(page, name, *value); !done) return done.error();
    }
    return page;
}

Result<std::optional<std::string>> query_parameter(std::string_view query, std::string_view name) {
    std::optional<std::string> found;
    while (!query.empty()) {
        auto parameter = next_parameter(query);
        if (parameter.name != name) continue;
        if (!parameter.value) return badly_encoded(name);
        found = std::move(parameter.value);
    }
    return found;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    return read_number(text, number) ? std::optional{number} : std::nullopt;
}

std::string next_link(std::string_view path, std::string_view where, std::uint32_t limit) {
    return '<' + std::string{path} + '?' + std::string{where} + "&limit=" + std::to_string(limit) +
           ">; rel=\"next\"";
}

}  // namespace routemaster::api
