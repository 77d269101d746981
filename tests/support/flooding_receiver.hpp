/// @file
/// An HTTPS receiver that never stops sending.

#pragma once

#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/self_signed_certificate.hpp"

namespace routemaster::test {

/// What a `FloodingReceiver` sends after the request.
struct Flood {
    /// Messages of TLS itself.
    enum class Handshake : std::uint8_t {
        none,
        tickets,         ///< Session tickets of TLS 1.3.
        key_updates,     ///< Of TLS 1.3.
        key_exchanges,   ///< Key updates of TLS 1.3 that want one in return.
        renegotiations,  ///< Of TLS 1.2: as many handshakes as the client takes part in.
    };

    std::string name;
    bool http2 = false;
    std::string beginning{};                ///< Sent once.
    std::string part{};                     ///< Repeated, in one TLS record.
    Handshake handshake = Handshake::none;  ///< Repeated in place of `part`.
    std::chrono::milliseconds pause{0};     ///< Between repetitions.
};

/// Listens on 127.0.0.1 until destroyed, with a self-signed certificate and a thread for each
/// connection. Encrypts many records before it sends them, so that it is faster than its peer.
class FloodingReceiver {
public:
    explicit FloodingReceiver(Flood flood) : flood_{std::move(flood)} {
        context_.reset(SSL_CTX_new(TLS_server_method()));
        static const SelfSignedCertificate certificate;
        SSL_CTX_use_certificate_file(context_.get(), certificate.certificate().c_str(),
                                     SSL_FILETYPE_PEM);
        SSL_CTX_use_PrivateKey_file(context_.get(), certificate.key().c_str(), SSL_FILETYPE_PEM);
        SSL_CTX_set_alpn_select_cb(context_.get(), &FloodingReceiver::choose_protocol, this);
        if (flood_.handshake == Flood::Handshake::renegotiations) {
            SSL_CTX_set_max_proto_version(context_.get(), TLS1_2_VERSION);
        }
        listen();
        thread_ = std::thread{[this] { accept(); }};
    }

    ~FloodingReceiver() {
        stopping_ = true;
        thread_.join();
        for (auto& thread : answers_) thread.join();
        ::close(listener_);
    }

    FloodingReceiver(const FloodingReceiver&) = delete;
    FloodingReceiver& operator=(const FloodingReceiver&) = delete;

    [[nodiscard]] std::string url() const {
        return "https://127.0.0.1:" + std::to_string(port_) + "/events";
    }

    /// Connections that got a request, and then the flood.
    [[nodiscard]] std::size_t floods() const { return floods_; }
    /// Bytes that were sent over all connections after requests.
    [[nodiscard]] std::size_t sent() const { return sent_; }
    /// Connections that the peer has closed.
    [[nodiscard]] std::size_t closed() const { return closed_; }

private:
    struct Free {
        void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
        void operator()(SSL* connection) const noexcept { SSL_free(connection); }
    };

    static constexpr std::size_t block = 65'536;

    static int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length,
                               const unsigned char*, unsigned, void* self) {
        const bool http2 = static_cast<FloodingReceiver*>(self)->flood_.http2;
        const std::string_view name = http2 ? "h2" : "http/1.1";
        *chosen = reinterpret_cast<const unsigned char*>(name.data());
        *length = static_cast<unsigned char>(name.size());
        return SSL_TLSEXT_ERR_OK;
    }

    void listen() {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, any, &size) != 0) {
            throw std::runtime_error{"cannot listen"};
        }
        port_ = ntohs(address.sin_port);
    }

    void accept() {
        while (!stopping_) {
            pollfd ready{.fd = listener_, .events = POLLIN, .revents = 0};
            if (::poll(&ready, 1, 20) != 1) continue;
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket >= 0) answers_.emplace_back([this, socket] { serve(socket); });
        }
    }

    void serve(int socket) {
        timeval soon{.tv_sec = 0, .tv_usec = 20'000};
        ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
        ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
        const std::unique_ptr<SSL, Free> connection{SSL_new(context_.get())};
        SSL_set_fd(connection.get(), socket);
        if (done([&] { return SSL_accept(connection.get()); }) && hear(connection.get())) {
            ++floods_;
            flood(connection.get(), socket);
            if (!stopping_) ++closed_;
        }
        ::close(socket);
    }

    /// Repeats a call that times out.
    bool done(const std::function<int()>& call) const {
        while (!stopping_) {
            errno = 0;
            if (call() > 0) return true;
            if (errno != EAGAIN && errno != EINTR) return false;
        }
        return false;
    }

    /// Waits for the end of a batch.
    bool hear(SSL* connection) const {
        constexpr std::string_view end = "}]";
        std::array<char, 16'384> bytes;
        std::string heard;
        while (heard.find(end) == std::string::npos) {
            int size = 0;
            if (!done([&] { return size = SSL_read(connection, bytes.data(), bytes.size()); })) {
                return false;
            }
            heard.append(bytes.data(), static_cast<std::size_t>(size));
        }
        return true;
    }

    /// Sends until the peer is gone.
    void flood(SSL* connection, int socket) {
        if (flood_.handshake == Flood::Handshake::renegotiations) return renegotiate(connection);
        BIO* const records = BIO_new(BIO_s_mem());
        SSL_set0_wbio(connection, records);
        bool open = write(connection, flood_.beginning) && send(socket, records);
        while (open) {
            do {
                open = repeat(connection);
            } while (open && flood_.pause.count() == 0 && BIO_ctrl_pending(records) < block);
            open = open && send(socket, records);
            if (flood_.pause.count() != 0) std::this_thread::sleep_for(flood_.pause);
        }
    }

    bool repeat(SSL* connection) const {
        using enum Flood::Handshake;
        switch (flood_.handshake) {
            case tickets: SSL_new_session_ticket(connection); break;
            case key_updates: SSL_key_update(connection, SSL_KEY_UPDATE_NOT_REQUESTED); break;
            case key_exchanges: SSL_key_update(connection, SSL_KEY_UPDATE_REQUESTED); break;
            default: return write(connection, flood_.part);
        }
        return SSL_do_handshake(connection) == 1;
    }

    void renegotiate(SSL* connection) {
        char byte = 0;
        while (!stopping_ && SSL_renegotiate(connection) == 1 &&
               done([&] { return SSL_do_handshake(connection); })) {
            // The answer of the client is read with what it sends.
            errno = 0;
            if (SSL_read(connection, &byte, 1) <= 0 && errno != EAGAIN) return;
            ++sent_;
        }
    }

    static bool write(SSL* connection, const std::string& bytes) {
        return bytes.empty() ||
               SSL_write(connection, bytes.data(), static_cast<int>(bytes.size())) > 0;
    }

    /// Sends what was encrypted.
    bool send(int socket, BIO* records) {
        char* bytes = nullptr;
        const auto size = static_cast<std::size_t>(BIO_get_mem_data(records, &bytes));
        for (std::size_t done = 0; done < size;) {
            const auto sent = ::send(socket, bytes + done, size - done, MSG_NOSIGNAL);
            if (stopping_ || (sent < 0 && errno != EAGAIN)) return false;
            if (sent > 0) done += static_cast<std::size_t>(sent);
            if (sent > 0) sent_ += static_cast<std::size_t>(sent);
        }
        (void)BIO_reset(records);
        return true;
    }

    const Flood flood_;
    std::unique_ptr<SSL_CTX, Free> context_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<std::size_t> floods_ = 0;
    std::atomic<std::size_t> sent_ = 0;
    std::atomic<std::size_t> closed_ = 0;
    std::atomic<bool> stopping_ = false;
    std::vector<std::thread> answers_;  ///< Changed only by the thread.
    std::thread thread_;
};

}  // namespace routemaster::test
