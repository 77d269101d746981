/// @file
/// Recognises addresses that lead back to this machine.

#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace routemaster::detail {

/// An address of the Internet, IPv4 ones mapped into IPv6 (RFC 4291 §2.5.5.2).
using InternetAddress = std::array<std::uint8_t, 16>;

/// The addresses by which this machine reaches itself: the loopback ones (127.0.0.0/8 and ::1), the
/// unspecified ones, which Linux treats alike, and those of its network interfaces; written as IPv4
/// or as IPv6. It lists the interfaces again once a second has passed.
///
/// Thread safety: one thread.
class ThisMachine {
public:
    /// Throws `Failure` when the system does not list its addresses.
    ThisMachine();

    /// Whether a connection to `address` reaches this machine.
    [[nodiscard]] bool has(const sockaddr& address);

    /// Whether the host of a URL is such an address, or a name that means one everywhere
    /// (`localhost`, RFC 6761 §6.3). Other names are not looked up.
    [[nodiscard]] bool has_host(std::string_view host);

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool has(const InternetAddress& address);
    bool read();

    Clock::time_point read_at_;
    std::vector<InternetAddress> addresses_;  ///< Sorted.
};

/// The address as people write it, without the port.
[[nodiscard]] std::string address_text(const sockaddr& address);

}  // namespace routemaster::detail
