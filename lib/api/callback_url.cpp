#include "callback_url.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "payload.hpp"
#include "routemaster/url.hpp"

namespace routemaster::api {
namespace {

struct Place {
    std::string host;  ///< In lower case, without brackets and trailing dot.
    bool bracketed = false;
};

bool is_port(std::string_view text) noexcept {
    std::uint16_t port = 0;
    const auto* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, port);
    return text.empty() || (error == std::errc{} && stopped == end);
}

/// Returns the part between `://` and the path, without user name and password.
std::string_view host_and_port(std::string_view url) {
    url.remove_prefix(url.find("://") + 3);
    url = url.substr(0, url.find_first_of("/#"));
    return url.substr(url.find('@') + 1);
}

std::string lower(std::string_view text) {
    std::string lowered{text};
    for (char& c : lowered) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lowered;
}

std::optional<Place> place_of(std::string_view url) {
    const auto found = host_and_port(url);
    const bool bracketed = found.starts_with('[');
    const auto end = found.find(bracketed ? ']' : ':');
    if (bracketed && end == std::string_view::npos) return std::nullopt;
    auto host = found.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
    auto rest = end == std::string_view::npos ? std::string_view{} : found.substr(end);
    if (bracketed) rest.remove_prefix(1);
    if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
    while (host.ends_with('.')) host.remove_suffix(1);
    // Programs disagree about a percent-encoded host, and about a second `@`.
    if (host.empty() || host.find_first_of("[]%@") != std::string_view::npos) return std::nullopt;
    return Place{lower(host), bracketed};
}

/// Whether the address is in 127.0.0.0/8 or 0.0.0.0/8. Linux connects both to this machine.
bool is_loopback(const in_addr& address) noexcept {
    const auto first = ntohl(address.s_addr) >> 24U;
    return first == 127 || first == 0;
}

/// Whether the address is `::1`, `::`, or a loopback IPv4 address in mapped or compatible form.
bool is_loopback(const in6_addr& address) noexcept {
    if (IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address)) return true;
    if (!IN6_IS_ADDR_V4MAPPED(&address) && !IN6_IS_ADDR_V4COMPAT(&address)) return false;
    in_addr inner{};
    std::copy(address.s6_addr + 12, address.s6_addr + 16,
              reinterpret_cast<unsigned char*>(&inner.s_addr));
    return is_loopback(inner);
}

bool is_name_of_this_machine(std::string_view host) noexcept {
    constexpr std::array names{"localhost", "localhost.localdomain", "ip6-localhost",
                               "ip6-loopback"};
    return host.ends_with(".localhost") ||
           std::find(names.begin(), names.end(), host) != names.end();
}

Result<void> check_place(const Place& place, bool allow_loopback) {
    bool loopback = false;
    if (place.bracketed) {
        in6_addr address{};
        if (inet_pton(AF_INET6, place.host.c_str(), &address) != 1) {
            return bad("callback", "URL has no valid host");
        }
        loopback = is_loopback(address);
    } else {
        // `inet_aton` accepts short, decimal, octal and hexadecimal forms, as resolvers do.
        in_addr address{};
        loopback = is_name_of_this_machine(place.host) ||
                   (inet_aton(place.host.c_str(), &address) != 0 && is_loopback(address));
    }
    if (loopback && !allow_loopback) return bad("callback", "URL leads to this machine");
    return {};
}

}  // namespace

Result<void> check_callback(std::string_view url, bool allow_http) {
    const auto rule = allow_http ? UrlRule::http : UrlRule::https;
    if (auto checked = check_url(url, "callback", rule); !checked) return checked;
    const auto place = place_of(url);
    if (!place) return bad("callback", "URL has no valid host or port");
    return check_place(*place, allow_http);
}

}  // namespace routemaster::api
