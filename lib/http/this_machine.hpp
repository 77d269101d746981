/// @file
/// Tells addresses that lead back to this very machine.

#pragma once

#include <sys/socket.h>

#include <string>

namespace routemaster::detail {

/// Whether connecting to `address` reaches this machine by its loopback interface: 127.0.0.0/8 and
/// ::1, and the unspecified addresses, which Linux takes for the same; written as IPv4 or as IPv6.
/// Other addresses of this machine are not known here.
[[nodiscard]] bool is_this_machine(const sockaddr& address);

/// The address as people write it, without the port.
[[nodiscard]] std::string address_text(const sockaddr& address);

}  // namespace routemaster::detail
