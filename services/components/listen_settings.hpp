/// @file
/// The settings of every command that listens.

#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "components/endpoint.hpp"

namespace routemaster::service {

/// Where to listen.
struct ListenSettings {
    Endpoint endpoint{};
    std::uint16_t port = 0;  ///< Used when the endpoint has none.

    [[nodiscard]] std::uint16_t effective_port() const { return endpoint.port.value_or(port); }
};

/// Declares `--listen` and `--port`, with the variables that set them; an empty name means no
/// variable. `settings` must outlive the parsing.
void declare_listening(CLI::App& app, ListenSettings& settings, const std::string& listen_variable,
                       const std::string& port_variable);

/// Prints the URL of the listener to standard output. Scripts wait for this line, so it is flushed.
void announce_listening(const std::string& address, std::uint16_t port);

}  // namespace routemaster::service
