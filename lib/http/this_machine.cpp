#include "this_machine.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace routemaster::detail {

namespace {

/// The structure that the family says `address` really is. Copied, since it may not be aligned.
template <class Address>
Address as(const sockaddr& address) {
    Address copy{};
    std::memcpy(&copy, &address, sizeof copy);
    return copy;
}

bool is_loopback_or_zero(std::span<const std::uint8_t, 4> ipv4) {
    return ipv4[0] == 127 || ipv4[0] == 0;
}

}  // namespace

bool is_this_machine(const sockaddr& address) {
    if (address.sa_family == AF_INET) {
        std::array<std::uint8_t, 4> bytes{};
        const auto in = as<sockaddr_in>(address);
        std::memcpy(bytes.data(), &in.sin_addr, bytes.size());
        return is_loopback_or_zero(bytes);
    }
    if (address.sa_family != AF_INET6) return false;
    std::array<std::uint8_t, 16> bytes{};
    const auto in6 = as<sockaddr_in6>(address);
    std::memcpy(bytes.data(), &in6.sin6_addr, bytes.size());
    const std::span<const std::uint8_t, 16> all{bytes};
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    if (!std::all_of(all.begin(), all.begin() + 10, is_zero)) return false;
    const bool is_mapped = bytes[10] == 0xff && bytes[11] == 0xff;
    if (is_mapped) return is_loopback_or_zero(all.last<4>());
    return std::all_of(all.begin() + 10, all.end() - 1, is_zero) && bytes[15] <= 1;
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
