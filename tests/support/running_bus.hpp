/// @file
/// The real bus, as a process of its own.

#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/http_client.hpp"
#include "support/process.hpp"

namespace routemaster::test {

/// The program under test.
inline const std::string routemaster_binary = ROUTEMASTER_BINARY;

/// The operator's token of every bus that is started here.
inline constexpr const char* root_key = "root-key";

/// A header line that presents a token.
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

/// The port in the line by which a program says where it listens.
inline std::uint16_t announced_port(const std::string& line) {
    const std::string beginning = "routemaster: listening on http://";
    if (!line.starts_with(beginning)) throw std::runtime_error{"not announced: " + line};
    return static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':') + 1)));
}

/// A bus on a free port. It lets in the root key and the clients `shop`, `billing`, `audit` and
/// `search`, and takes plain http callbacks on this machine.
class RunningBus {
public:
    /// Starts it with its data in `folder`, and waits until it listens.
    explicit RunningBus(std::filesystem::path folder, std::vector<std::string> flags = {},
                        Process::Environment environment = {})
        : folder_{std::move(folder)},
          flags_{std::move(flags)},
          environment_{std::move(environment)} {
        start();
    }

    /// Starts it again, after `kill` or `stop`, perhaps on another port.
    void start() {
        process_ = std::make_unique<Process>(command(), environment_);
        port_ = announced_port(process_->line());
    }

    /// The command line that it is started with.
    [[nodiscard]] std::vector<std::string> command() const {
        std::vector<std::string> words{routemaster_binary,
                                       "serve",
                                       "--listen",
                                       "127.0.0.1:0",
                                       "--data-dir",
                                       folder_.string(),
                                       "--root-key",
                                       root_key,
                                       "--clients",
                                       "shop,billing,audit,search",
                                       "--allow-http-callbacks"};
        words.insert(words.end(), flags_.begin(), flags_.end());
        return words;
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] Process& process() noexcept { return *process_; }

    /// Ends it as a power cut would, and waits until it is gone.
    void kill() {
        process_->signal(SIGKILL);
        process_->wait();
    }

    /// Asks it to end, and waits; its exit status.
    int stop(int signal = SIGTERM) {
        process_->signal(signal);
        return process_->wait();
    }

    /// One request on a connection of its own.
    [[nodiscard]] HttpReply ask(std::string_view method, std::string_view target,
                                std::string_view token = {}, std::string_view body = {}) const {
        HttpClient client{port_};
        return client.ask(method, target, body,
                          token.empty() ? std::string{} : authorization(token));
    }

    /// Subscribes `token` to `topics`, which is JSON, with further settings, which are too.
    [[nodiscard]] HttpReply subscribe(const std::string& token, const std::string& topics,
                                      const std::string& callback,
                                      const std::string& settings = {}) const {
        return ask("POST", "/subscription", token,
                   R"({"topics":)" + topics + R"(,"callback":")" + callback + R"(","uuid":")" +
                       token + '"' + (settings.empty() ? "" : "," + settings) + '}');
    }

    /// Publishes one event of `shop`.
    [[nodiscard]] HttpReply publish(const std::string& topic, const std::string& url) const {
        return ask("POST", "/topics/" + topic, "shop", event_json(url));
    }

    /// An event as publishers send it.
    [[nodiscard]] static std::string event_json(const std::string& url) {
        return R"({"type":"update","url":")" + url + R"("})";
    }

private:
    std::filesystem::path folder_;
    std::vector<std::string> flags_;
    Process::Environment environment_;
    std::unique_ptr<Process> process_;
    std::uint16_t port_ = 0;
};

}  // namespace routemaster::test
