/// @file
/// `ThisMachine`: detects addresses of this machine, to prevent requests to internal services.

#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace routemaster::detail {

/// An IPv6 address, or an IPv4 address mapped into IPv6 (RFC 4291 §2.5.5.2).
using InternetAddress = std::array<std::uint8_t, 16>;

/// Set of the addresses of this machine: the loopback addresses (127.0.0.0/8 and ::1), the
/// unspecified addresses (Linux connects them to this machine), and the addresses of the network
/// interfaces. IPv4 addresses are also recognised in IPv6 form. The list of interfaces is refreshed
/// when it is older than a second.
///
/// Thread safety: one thread.
class ThisMachine {
public:
    /// Throws `Failure` if the system cannot list its addresses.
    ThisMachine();

    [[nodiscard]] bool has(const sockaddr& address);

    /// Whether the host of a URL is an address of this machine, or `localhost` or a subdomain of
    /// `localhost` (RFC 6761 §6.3). Does not resolve names.
    [[nodiscard]] bool has_host(std::string_view host);

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool has(const InternetAddress& address);
    bool read();

    Clock::time_point read_at_;
    std::vector<InternetAddress> addresses_;  ///< Sorted.
};

/// Formats the address, without the port; empty unless IPv4 or IPv6.
[[nodiscard]] std::string address_text(const sockaddr& address);

}  // namespace routemaster::detail
