#include "this_machine.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include "routemaster/error.hpp"

namespace routemaster::detail {

namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// Copies `address` to the structure of its address family, because it may be unaligned.
template <class Address>
Address as(const sockaddr& address) {
    Address copy{};
    std::memcpy(&copy, &address, sizeof copy);
    return copy;
}

InternetAddress mapped(const in_addr& ipv4) {
    InternetAddress bytes{};
    std::copy(mapped_prefix.begin(), mapped_prefix.end(), bytes.begin());
    std::memcpy(bytes.data() + mapped_prefix.size(), &ipv4, sizeof ipv4);
    return bytes;
}

InternetAddress plain(const in6_addr& ipv6) {
    InternetAddress bytes{};
    std::memcpy(bytes.data(), &ipv6, bytes.size());
    return bytes;
}

/// Converts a socket address. Returns nothing unless it is IPv4 or IPv6.
std::optional<InternetAddress> internet_address(const sockaddr& address) {
    if (address.sa_family == AF_INET) return mapped(as<sockaddr_in>(address).sin_addr);
    if (address.sa_family == AF_INET6) return plain(as<sockaddr_in6>(address).sin6_addr);
    return std::nullopt;
}

bool is_loopback_or_unspecified(const InternetAddress& address) {
    if (std::equal(mapped_prefix.begin(), mapped_prefix.end(), address.begin())) {
        return address[12] == 127 || address[12] == 0;
    }
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    return std::all_of(address.begin(), address.end() - 1, is_zero) && address.back() <= 1;
}

std::optional<InternetAddress> parse(std::string_view host) {
    if (host.starts_with('[')) {
        const std::string text{host.substr(1, host.find_first_of("]%") - 1)};
        in6_addr ipv6{};
        if (inet_pton(AF_INET6, text.c_str(), &ipv6) != 1) return std::nullopt;
        return plain(ipv6);
    }
    in_addr ipv4{};
    if (inet_pton(AF_INET, std::string{host}.c_str(), &ipv4) != 1) return std::nullopt;
    return mapped(ipv4);
}

bool is_localhost(std::string_view host) {
    constexpr std::string_view name = "localhost";
    if (host.ends_with('.')) host.remove_suffix(1);
    if (host.size() < name.size()) return false;
    const auto tail = host.substr(host.size() - name.size());
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    return std::equal(tail.begin(), tail.end(), name.begin(), same) &&
           (tail.size() == host.size() || host[host.size() - tail.size() - 1] == '.');
}

}  // namespace

ThisMachine::ThisMachine() {
    if (read()) return;
    throw Failure{{Errc::unavailable,
                   "addresses of this machine: " + std::generic_category().message(errno)}};
}

bool ThisMachine::read() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return false;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all{first, &freeifaddrs};
    addresses_.clear();
    for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr) continue;
        if (const auto address = internet_address(*each->ifa_addr)) addresses_.push_back(*address);
    }
    std::sort(addresses_.begin(), addresses_.end());
    read_at_ = Clock::now();
    return true;
}

bool ThisMachine::has(const sockaddr& address) {
    const auto known = internet_address(address);
    return known && has(*known);
}

bool ThisMachine::has(const InternetAddress& address) {
    if (is_loopback_or_unspecified(address)) return true;
    constexpr std::chrono::seconds valid_for{1};
    // On error, the previous list is used.
    if (Clock::now() - read_at_ >= valid_for) read();
    return std::binary_search(addresses_.begin(), addresses_.end(), address);
}

bool ThisMachine::has_host(std::string_view host) {
    const auto address = parse(host);
    return address ? has(*address) : is_localhost(host);
}

std::string address_text(const sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.sa_family == AF_INET) {
        const auto in = as<sockaddr_in>(address);
        inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
    } else if (address.sa_family == AF_INET6) {
        const auto in6 = as<sockaddr_in6>(address);
        inet_ntop(AF_INET6, &in6.sin6_addr, text.data(), text.size());
    }
    return text.data();
}

}  // namespace routemaster::detail
