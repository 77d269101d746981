#include "tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

namespace routemaster::redis {

namespace {

struct FreeSsl {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
using SslPointer = std::unique_ptr<SSL, FreeSsl>;

/// OpenSSL's description of the last failure on this thread.
std::string openssl_text() {
    const auto code = ERR_get_error();
    ERR_clear_error();
    if (code == 0) return "failed";
    if (const char* reason = ERR_reason_error_string(code)) return reason;
    std::array<char, 256> text{};
    ERR_error_string_n(code, text.data(), text.size());
    return text.data();
}

Error tls_error(const std::string& text) { return {Errc::unavailable, "TLS: " + text}; }

class TlsStream final : public Stream {
public:
    TlsStream(Socket socket, SslPointer ssl) : socket_{std::move(socket)}, ssl_{std::move(ssl)} {}

    Result<bool> begin() override {
        ERR_clear_error();
        const int code = SSL_connect(ssl_.get());
        if (code == 1) return true;
        const auto failure = wait_or_fail(code, read_waits_for_);
        if (failure) return *failure;
        return false;
    }

    Result<std::size_t> read(std::span<char> buffer) override {
        if (failure_) return *failure_;
        // Fills the buffer with several TLS records, each of at most 16 KiB. Excess decrypted bytes
        // stay inside OpenSSL, invisible to `poll`.
        std::size_t size = 0;
        while (size < buffer.size()) {
            read_waits_for_ = POLLIN;
            ERR_clear_error();
            const int code =
                SSL_read(ssl_.get(), buffer.data() + size, length(buffer.size() - size));
            if (code <= 0) {
                failure_ = wait_or_fail(code, read_waits_for_);
                break;
            }
            size += static_cast<std::size_t>(code);
        }
        if (size == 0 && failure_) return *failure_;
        return size;
    }

    Result<std::size_t> write(std::string_view bytes) override {
        write_waits_for_ = POLLOUT;
        ERR_clear_error();
        const int code = SSL_write(ssl_.get(), bytes.data(), length(bytes.size()));
        if (code > 0) return static_cast<std::size_t>(code);
        const auto failure = wait_or_fail(code, write_waits_for_);
        if (failure) return *failure;
        return std::size_t{0};
    }

    [[nodiscard]] short poll_events(bool writing) const override {
        return static_cast<short>(read_waits_for_ | (writing ? write_waits_for_ : 0));
    }

    [[nodiscard]] int descriptor() const override { return socket_.descriptor(); }

private:
    static int length(std::size_t size) {
        return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
    }

    /// Stores the event to wait for before the operation is repeated. Returns an error if repeating
    /// is useless.
    std::optional<Error> wait_or_fail(int code, short& waits_for) {
        const int system = errno;
        switch (SSL_get_error(ssl_.get(), code)) {
            case SSL_ERROR_WANT_READ: waits_for = POLLIN; return std::nullopt;
            case SSL_ERROR_WANT_WRITE: waits_for = POLLOUT; return std::nullopt;
            case SSL_ERROR_ZERO_RETURN: return Error{Errc::unavailable, "closed by the server"};
            case SSL_ERROR_SYSCALL:
                if (ERR_peek_error() == 0) {
                    return Error{Errc::unavailable,
                                 system == 0 ? "closed by the server" : errno_text(system)};
                }
                break;
            default: break;
        }
        if (const auto verdict = SSL_get_verify_result(ssl_.get()); verdict != X509_V_OK) {
            ERR_clear_error();
            return tls_error(X509_verify_cert_error_string(verdict));
        }
        // Redis servers close a connection without TLS' close_notify. A truncated reply is detected
        // by its length, so a missing close_notify is no security problem.
        if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
            ERR_clear_error();
            return Error{Errc::unavailable, "closed by the server"};
        }
        if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_WRONG_VERSION_NUMBER) {
            ERR_clear_error();
            return tls_error("the server does not use TLS on this port");
        }
        return tls_error(openssl_text());
    }

    Socket socket_;
    SslPointer ssl_;  ///< Destroyed first, because it uses the socket.
    /// An error that occurred after a partial read. The next call returns it.
    std::optional<Error> failure_;
    short read_waits_for_ = POLLIN;
    short write_waits_for_ = POLLOUT;
};

bool is_address_in_digits(const std::string& host) {
    return host.find(':') != std::string::npos ||
           host.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

void Tls::Free::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }

Tls::Tls(const std::string& ca_file) : context_{SSL_CTX_new(TLS_client_method())} {
    if (!context_) throw Failure{tls_error(openssl_text())};
    SSL_CTX* const context = context_.get();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    // Allows OpenSSL to repeat a write from another address, because the write buffer may be
    // reallocated meanwhile.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    ERR_clear_error();
    if (ca_file.empty()) {
        if (SSL_CTX_set_default_verify_paths(context) != 1) {
            throw Failure{
                tls_error("cannot load the system's certificate authorities: " + openssl_text())};
        }
    } else if (SSL_CTX_load_verify_file(context, ca_file.c_str()) != 1) {
        throw Failure{{Errc::invalid, "tls_ca_file '" + ca_file + "': " + openssl_text()}};
    }
}

Result<std::unique_ptr<Stream>> Tls::stream(Socket socket, const std::string& host) const {
    ERR_clear_error();
    SslPointer ssl{SSL_new(context_.get())};
    if (!ssl || SSL_set_fd(ssl.get(), socket.descriptor()) != 1) return tls_error(openssl_text());
    if (is_address_in_digits(host)) {
        auto* const parameters = SSL_get0_param(ssl.get());
        if (X509_VERIFY_PARAM_set1_ip_asc(parameters, host.c_str()) != 1) {
            return tls_error("not an IP address: " + host);
        }
    } else {
        // The expansion of the macro SSL_set_tlsext_host_name, without its C-style casts.
        void* const name = const_cast<char*>(host.c_str());
        SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        if (SSL_set1_host(ssl.get(), host.c_str()) != 1 ||
            SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name) !=
                1) {
            return tls_error(openssl_text());
        }
    }
    return std::unique_ptr<Stream>{std::make_unique<TlsStream>(std::move(socket), std::move(ssl))};
}

}  // namespace routemaster::redis
