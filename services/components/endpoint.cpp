#include "components/endpoint.hpp"

#include <arpa/inet.h>

#include <charconv>

namespace routemaster::service {
namespace {

bool is_ipv4(const std::string& address) {
    in_addr parsed{};
    return inet_pton(AF_INET, address.c_str(), &parsed) == 1;
}

bool is_ipv6(const std::string& address) {
    in6_addr parsed{};
    return inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, port);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return port;
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
    const Error wrong{Errc::invalid, "'" + std::string{text} +
                                         "' is not ADDRESS:PORT; the address is numeric, an IPv6 "
                                         "one with a port in brackets, the port 0 to 65535"};
    if (is_ipv6(std::string{text})) return Endpoint{.address = std::string{text}};
    Endpoint endpoint;
    const auto colon = text.rfind(':');
    const bool bracketed = text.starts_with('[');
    if (colon != std::string_view::npos && !text.ends_with(']')) {
        endpoint.port = parse_port(text.substr(colon + 1));
        if (!endpoint.port) return wrong;
        text = text.substr(0, colon);
    }
    if (bracketed && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    endpoint.address = text;
    if (bracketed ? !is_ipv6(endpoint.address) : !is_ipv4(endpoint.address)) return wrong;
    return endpoint;
}

std::string url_of(const std::string& address, std::uint16_t port) {
    const bool ipv6 = address.find(':') != std::string::npos;
    return "http://" + (ipv6 ? '[' + address + ']' : address) + ':' + std::to_string(port);
}

}  // namespace routemaster::service
