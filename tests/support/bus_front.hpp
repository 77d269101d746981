/// @file
/// `BusFront`: the HTTP interface of a running bus.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/http_client.hpp"

namespace routemaster::test {

/// The operator's token of all buses in these tests.
inline constexpr const char* root_key = "root-5ecret";

/// The tokens of the clients of all buses in these tests. They have no public part.
inline const std::vector<std::string> clients{"shop", "billing", "audit", "search"};

/// The header line `Authorization` for a token.
inline std::string authorization(std::string_view token) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::string plain = std::string{token} + ":x";
    std::string text;
    for (std::size_t i = 0; i < plain.size(); i += 3) {
        const auto count = std::min<std::size_t>(3, plain.size() - i);
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            bits = bits << 8U | (j < count ? static_cast<unsigned char>(plain[i + j]) : 0U);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            text += j <= count ? digits[bits >> (18U - 6U * j) & 63U] : '=';
        }
    }
    return "Authorization: Basic " + text + "\r\n";
}

/// Parses the port from the line in which a program announces its URL.
inline std::uint16_t announced_port(const std::string& line) {
    const std::string beginning = "routemaster: listening on http://";
    if (!line.starts_with(beginning)) throw std::runtime_error{"not announced: " + line};
    return static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':') + 1)));
}

/// The HTTP side of a bus on this machine.
class BusFront {
public:
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

    /// Sends one request on a new connection.
    [[nodiscard]] HttpReply ask(std::string_view method, std::string_view target,
                                std::string_view token = {}, std::string_view body = {}) const {
        HttpClient client{port_};
        return client.ask(method, target, body,
                          token.empty() ? std::string{} : authorization(token));
    }

    /// Subscribes `token` to `topics`. `topics` and `settings` are JSON.
    [[nodiscard]] HttpReply subscribe(const std::string& token, const std::string& topics,
                                      const std::string& callback,
                                      const std::string& settings = {}) const {
        return ask("POST", "/subscription", token,
                   R"({"topics":)" + topics + R"(,"callback":")" + callback + R"(","uuid":")" +
                       token + '"' + (settings.empty() ? "" : "," + settings) + '}');
    }

    /// Publishes one event as `shop`.
    [[nodiscard]] HttpReply publish(const std::string& topic, const std::string& url) const {
        return ask("POST", "/topics/" + topic, "shop", event_json(url));
    }

    /// The JSON of an event.
    [[nodiscard]] static std::string event_json(const std::string& url) {
        return R"({"type":"update","url":")" + url + R"("})";
    }

protected:
    /// Sets the port of the bus.
    void listens_at(std::uint16_t port) { port_ = port; }

private:
    std::uint16_t port_ = 0;
};

}  // namespace routemaster::test
