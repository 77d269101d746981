/// @file
/// `FloodingReceiver`: an HTTPS receiver that never stops sending.

#pragma once

#include <openssl/ssl.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "support/loopback_server.hpp"
#include "support/self_signed_certificate.hpp"

namespace routemaster::test {

/// The data that a `FloodingReceiver` sends after the request.
struct Flood {
    /// Messages of the TLS protocol itself.
    enum class Handshake : std::uint8_t {
        none,
        tickets,         ///< Session tickets of TLS 1.3.
        key_updates,     ///< Key updates of TLS 1.3.
        key_exchanges,   ///< Key updates of TLS 1.3 that request a key update in return.
        renegotiations,  ///< TLS 1.2: repeats handshakes as long as the client responds.
    };

    std::string name;
    bool http2 = false;
    std::string beginning{};                ///< Sent once.
    std::string part{};                     ///< Repeated, in one TLS record.
    Handshake handshake = Handshake::none;  ///< Repeated in place of `part`.
    std::chrono::milliseconds pause{0};     ///< Between repetitions.
};

/// Listens on 127.0.0.1 until destroyed, with a self-signed certificate and a thread for each
/// connection. Encrypts many records before it sends them, to be faster than its peer.
class FloodingReceiver {
public:
    explicit FloodingReceiver(Flood flood) : flood_{std::move(flood)}, context_{new_context()} {}

    FloodingReceiver(const FloodingReceiver&) = delete;
    FloodingReceiver& operator=(const FloodingReceiver&) = delete;

    [[nodiscard]] std::string url() const { return server_.url("https"); }

    /// The number of connections that were flooded after a request.
    [[nodiscard]] std::size_t floods() const { return floods_; }
    /// The bytes and renegotiations sent over all connections after requests.
    [[nodiscard]] std::size_t sent() const { return server_.sent() + renegotiations_; }
    /// The number of connections closed by the peer.
    [[nodiscard]] std::size_t closed() const { return closed_; }

private:
    struct Free {
        void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
        void operator()(SSL* connection) const noexcept { SSL_free(connection); }
    };

    static constexpr std::size_t block = 65'536;

    [[nodiscard]] SSL_CTX* new_context() {
        SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
        static const SelfSignedCertificate certificate;
        SSL_CTX_use_certificate_file(context, certificate.certificate().c_str(), SSL_FILETYPE_PEM);
        SSL_CTX_use_PrivateKey_file(context, certificate.key().c_str(), SSL_FILETYPE_PEM);
        SSL_CTX_set_alpn_select_cb(context, &FloodingReceiver::choose_protocol, this);
        if (flood_.handshake == Flood::Handshake::renegotiations) {
            SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
        }
        return context;
    }

    static int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length,
                               const unsigned char*, unsigned, void* self) {
        const bool http2 = static_cast<FloodingReceiver*>(self)->flood_.http2;
        const std::string_view name = http2 ? "h2" : "http/1.1";
        *chosen = reinterpret_cast<const unsigned char*>(name.data());
        *length = static_cast<unsigned char>(name.size());
        return SSL_TLSEXT_ERR_OK;
    }

    void serve(int socket) {
        const std::unique_ptr<SSL, Free> connection{SSL_new(context_.get())};
        SSL_set_fd(connection.get(), socket);
        if (done([&] { return SSL_accept(connection.get()); }) && hear(connection.get())) {
            ++floods_;
            flood(connection.get(), socket);
            if (!server_.stopping()) ++closed_;
        }
    }

    /// Repeats a call while it times out.
    bool done(const std::function<int()>& call) const {
        while (!server_.stopping()) {
            errno = 0;
            if (call() > 0) return true;
            if (errno != EAGAIN && errno != EINTR) return false;
        }
        return false;
    }

    /// Reads until the end of a batch.
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

    /// Sends until the peer has closed the connection.
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
        while (!server_.stopping() && SSL_renegotiate(connection) == 1 &&
               done([&] { return SSL_do_handshake(connection); })) {
            // `SSL_read` also reads the client's part of the handshake.
            errno = 0;
            if (SSL_read(connection, &byte, 1) <= 0 && errno != EAGAIN) return;
            ++renegotiations_;
        }
    }

    static bool write(SSL* connection, const std::string& bytes) {
        return bytes.empty() ||
               SSL_write(connection, bytes.data(), static_cast<int>(bytes.size())) > 0;
    }

    /// Sends the encrypted records.
    bool send(int socket, BIO* records) {
        char* bytes = nullptr;
        const auto size = static_cast<std::size_t>(BIO_get_mem_data(records, &bytes));
        if (!server_.send(socket, {bytes, size})) return false;
        (void)BIO_reset(records);
        return true;
    }

    const Flood flood_;
    std::unique_ptr<SSL_CTX, Free> context_;
    std::atomic<std::size_t> floods_ = 0;
    std::atomic<std::size_t> renegotiations_ = 0;
    std::atomic<std::size_t> closed_ = 0;
    LoopbackServer server_{[this](int socket) { serve(socket); }};
};

}  // namespace routemaster::test
