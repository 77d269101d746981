/// @file
/// `BusClient`: an HTTP client for a running bus.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "routemaster/result.hpp"

namespace routemaster::service {

/// The URL of a bus, and the token for its requests.
struct BusSettings {
    std::string bus = "http://127.0.0.1:17890";
    std::string token;
};

/// Declares `--bus`. `settings` must outlive the parsing, here and in `declare_client_token`.
void declare_bus(CLI::App& app, BusSettings& settings);

/// Declares `--token`, and returns the option.
CLI::Option* declare_client_token(CLI::App& app, BusSettings& settings);

/// HTTP client with one connection to a bus, which is kept alive between requests.
///
/// Thread safety: one thread at a time.
class BusClient {
public:
    /// The response of the bus.
    struct Answer {
        int status = 0;
        std::string body;
        std::string next;  ///< Path of the next page of a list; empty at its end.

        [[nodiscard]] bool accepted() const noexcept { return status >= 200 && status < 300; }
        /// Returns why the bus rejected the request, in one line.
        [[nodiscard]] std::string refusal() const;
    };

    /// Connects at the first request. Throws `Failure` if libcurl cannot be initialised.
    explicit BusClient(const BusSettings& settings);
    ~BusClient();
    BusClient(const BusClient&) = delete;
    BusClient& operator=(const BusClient&) = delete;

    /// Adds a header line to all further requests. `value` must not contain control characters.
    void add_header(const std::string& name, const std::string& value);

    /// Sends a request and waits for the response, whatever its status. `unavailable` if no
    /// response arrives.
    Result<Answer> ask(std::string_view method, const std::string& path,
                       std::string_view body = {});

    /// Like `ask`, but throws `Failure` on an error, and for a status other than 2xx.
    Answer demand(std::string_view method, const std::string& path, std::string_view body = {});

    /// Percent-encodes a text for use in a path or a query.
    [[nodiscard]] std::string encoded(const std::string& text) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster::service
