/// @file
/// Settings shared by all commands that listen for connections.

#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "components/endpoint.hpp"

namespace routemaster::service {

/// The address and port of a listener.
struct ListenSettings {
    Endpoint endpoint{};
    std::uint16_t port = 0;  ///< Used if `endpoint` has no port.

    [[nodiscard]] std::uint16_t effective_port() const { return endpoint.port.value_or(port); }
};

/// Declares `--listen` and `--port`, and the environment variables for them. An empty name stands
/// for no variable. `settings` must outlive the parsing.
void declare_listening(CLI::App& app, ListenSettings& settings, const std::string& listen_variable,
                       const std::string& port_variable);

/// Prints the URL of the listener to standard output and flushes, because scripts wait for this
/// line.
void announce_listening(const std::string& address, std::uint16_t port);

}  // namespace routemaster::service
