/// @file
/// A receiver over HTTP/2 with a self-signed certificate: nghttpd, which answers every request with
/// 200 and a file.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

namespace routemaster::test {

/// Listens on a free port of 127.0.0.1 until destroyed.
class Http2Receiver {
public:
    /// Its answers have a body of so many bytes.
    explicit Http2Receiver(std::size_t bytes) {
        const auto key = (folder_.path() / "key.pem").string();
        const auto certificate = (folder_.path() / "certificate.pem").string();
        const auto make =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
            "-subj /CN=localhost -keyout '" +
            key + "' -out '" + certificate + "' 2>/dev/null";
        if (std::system(make.c_str()) != 0) throw std::runtime_error{"cannot make a certificate"};
        std::ofstream{folder_.path() / "events"} << std::string(bytes, 'x');
        port_ = free_port();
        const auto port = std::to_string(port_);
        url_ = "https://127.0.0.1:" + port + "/events";
        process_ = std::make_unique<Process>(
            std::vector<std::string>{"nghttpd", "-a", "127.0.0.1", "-m", "1000", "-d",
                                     folder_.path(), port, key, certificate});
        if (!await([this] { return listens(); }))
            throw std::runtime_error{"nghttpd does not listen"};
    }

    [[nodiscard]] const std::string& url() const noexcept { return url_; }

    void freeze() const { process_->signal(SIGSTOP); }
    void thaw() const { process_->signal(SIGCONT); }

private:
    [[nodiscard]] bool listens() const {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port_);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const bool connected =
            ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        ::close(socket);
        return connected;
    }

    TemporaryFolder folder_;
    std::uint16_t port_ = 0;
    std::string url_;
    std::unique_ptr<Process> process_;
};

}  // namespace routemaster::test
