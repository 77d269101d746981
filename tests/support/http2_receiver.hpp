/// @file
/// `Http2Receiver`: an HTTP/2 server with a self-signed certificate. It is nghttpd, and responds to
/// each request with 200 and a file.

#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/await.hpp"
#include "support/free_port.hpp"
#include "support/http_client.hpp"
#include "support/process.hpp"
#include "support/self_signed_certificate.hpp"
#include "support/temporary_folder.hpp"

namespace routemaster::test {

/// Listens on a free port of 127.0.0.1 until destroyed.
class Http2Receiver {
public:
    /// Responds with a body of `bytes` bytes.
    explicit Http2Receiver(std::size_t bytes) {
        std::ofstream{folder_.path() / "events"} << std::string(bytes, 'x');
        port_ = free_port();
        const auto port = std::to_string(port_);
        url_ = "https://127.0.0.1:" + port + "/events";
        process_ = std::make_unique<Process>(std::vector<std::string>{
            "nghttpd", "-a", "127.0.0.1", "-m", "1000", "-d", folder_.path(), port,
            certificate_.key(), certificate_.certificate()});
        if (!await([this] { return listens(port_); }))
            throw std::runtime_error{"nghttpd does not listen"};
    }

    [[nodiscard]] const std::string& url() const noexcept { return url_; }

    void freeze() const { process_->signal(SIGSTOP); }
    void thaw() const { process_->signal(SIGCONT); }

private:
    SelfSignedCertificate certificate_;
    TemporaryFolder folder_;
    std::uint16_t port_ = 0;
    std::string url_;
    std::unique_ptr<Process> process_;
};

}  // namespace routemaster::test
