/// @file
/// `TlsPeer`: an HTTPS receiver with a self-signed certificate. It is `openssl s_server`, and the
/// test writes its responses.

#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/self_signed_certificate.hpp"

namespace routemaster::test {

/// Accepts TLS connections one after another. A test can wait for requests, and respond.
class TlsPeer {
public:
    /// `protocols`: the ALPN protocols that the receiver supports, separated by commas, the
    /// preferred protocol first. Empty: the receiver ignores ALPN.
    explicit TlsPeer(const std::string& protocols = {}) {
        start(protocols);
        constexpr std::string_view greeting = "ACCEPT 127.0.0.1:";
        wait_for(greeting);
        const auto at = heard_.find(greeting) + greeting.size();
        while (heard_.find('\n', at) == std::string::npos) listen();
        port_ = heard_.substr(at, heard_.find('\n', at) - at);
    }

    ~TlsPeer() {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        ::close(to_);
        ::close(from_);
    }

    TlsPeer(const TlsPeer&) = delete;
    TlsPeer& operator=(const TlsPeer&) = delete;

    [[nodiscard]] std::string url() const { return "https://127.0.0.1:" + port_ + "/events"; }

    /// Waits until peers have sent `text`, after any other bytes. Throws at the timeout.
    void wait_for(std::string_view text) {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        while (heard_.find(text) == std::string::npos) {
            if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error{silence()};
            listen();
        }
    }

    /// Sends `text` on the current connection.
    void say(std::string_view text) const {
        if (::write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
            throw std::runtime_error{"openssl takes no answer"};
        }
    }

private:
    static constexpr std::chrono::milliseconds timeout{30'000};

    [[nodiscard]] std::string silence() const { return "openssl says no more than: " + heard_; }

    void start(const std::string& protocols) {
        std::array<int, 2> in{};
        std::array<int, 2> out{};
        if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
            throw std::runtime_error{"no pipes"};
        }
        const std::string key = certificate_.key();
        const std::string certificate = certificate_.certificate();
        const char* const alpn = protocols.empty() ? nullptr : "-alpn";
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(in[0], STDIN_FILENO);
            ::dup2(out[1], STDOUT_FILENO);
            ::dup2(out[1], STDERR_FILENO);
            ::execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-key",
                     key.c_str(), "-cert", certificate.c_str(), alpn, protocols.c_str(),
                     static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        to_ = in[1];
        from_ = out[0];
    }

    /// Waits for output of openssl.
    void listen() {
        pollfd ready{.fd = from_, .events = POLLIN, .revents = 0};
        std::array<char, 4'096> bytes;
        const bool is_ready = ::poll(&ready, 1, static_cast<int>(timeout.count())) == 1;
        const auto size = is_ready ? ::read(from_, bytes.data(), bytes.size()) : 0;
        if (size <= 0) throw std::runtime_error{silence()};
        heard_.append(bytes.data(), static_cast<std::size_t>(size));
    }

    SelfSignedCertificate certificate_;
    pid_t child_ = -1;
    int to_ = -1;
    int from_ = -1;
    std::string port_;
    std::string heard_;
};

}  // namespace routemaster::test
