#include "tls_meter.hpp"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <string>
#include <utility>

namespace routemaster::detail {

namespace {

using Held = std::shared_ptr<TlsMeter>;

Held* held_by(BIO* bio) { return reinterpret_cast<Held*>(BIO_get_callback_arg(bio)); }

/// BIO callback: OpenSSL calls it before and after each operation on the connection.
long watch_bytes(BIO* bio, int operation, const char*, std::size_t, int, long, int result,
                 std::size_t* processed) noexcept {
    Held* const meter = held_by(bio);
    if (operation == BIO_CB_FREE) {
        BIO_set_callback_ex(bio, nullptr);
        delete meter;
    } else if (operation == BIO_CB_READ && !(*meter)->may_read()) {
        BIO_clear_retry_flags(bio);
        BIO_set_retry_read(bio);
        return -1;
    } else if (operation == (BIO_CB_READ | BIO_CB_RETURN) && result > 0) {
        (*meter)->count(static_cast<std::int64_t>(*processed) + TlsMeter::read_weight);
    }
    return result;
}

/// Whether a peer may send this message after the handshake, and thus repeatedly.
bool may_repeat(unsigned char type) noexcept {
    return type == SSL3_MT_NEWSESSION_TICKET || type == SSL3_MT_KEY_UPDATE ||
           type == SSL3_MT_CERTIFICATE_REQUEST || type == SSL3_MT_HELLO_REQUEST;
}

/// Message callback: OpenSSL calls it for each message, and for the header of each record. The
/// client sends the first message of a connection, so the meter is attached before the peer sends.
void watch_messages(int is_sent, int, int content, const void* bytes, std::size_t size,
                    SSL* connection, void* budget) noexcept {
    BIO* const bio = SSL_get_rbio(connection);
    if (BIO_get_callback_ex(bio) != &watch_bytes) {
        auto* const meter = new Held{std::make_shared<TlsMeter>(*static_cast<TurnBudget*>(budget))};
        BIO_set_callback_arg(bio, reinterpret_cast<char*>(meter));
        BIO_set_callback_ex(bio, &watch_bytes);
    }
    if (is_sent != 0 || content != SSL3_RT_HANDSHAKE || size == 0) return;
    if (may_repeat(*static_cast<const unsigned char*>(bytes))) {
        (*held_by(bio))->count(TlsMeter::message_weight);
    }
}

CURLcode set_up_context(CURL*, void* context, void* budget) noexcept {
    auto* const tls = static_cast<SSL_CTX*>(context);
    // The peer could request renegotiations. Each takes as long as receiving many thousand bytes.
    SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_msg_callback(tls, &watch_messages);
    SSL_CTX_set_msg_callback_arg(tls, budget);
    return CURLE_OK;
}

}  // namespace

bool TlsMeter::is_available() {
    const char* const library = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return library != nullptr &&
           library == std::string{"OpenSSL/"} + OpenSSL_version(OPENSSL_VERSION_STRING);
}

CURLcode TlsMeter::meter(CURL* handle, TurnBudget& budget) {
    const CURLcode code = curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, &set_up_context);
    if (code != CURLE_OK) return code;
    return curl_easy_setopt(handle, CURLOPT_SSL_CTX_DATA, &budget);
}

std::shared_ptr<TlsMeter> TlsMeter::of(CURL* handle) {
    curl_tlssessioninfo* session = nullptr;
    curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session);
    if (session == nullptr || session->internals == nullptr) return nullptr;
    BIO* const bio = SSL_get_rbio(static_cast<SSL*>(session->internals));
    const bool is_metered = bio != nullptr && BIO_get_callback_ex(bio) == &watch_bytes;
    return is_metered ? *held_by(bio) : nullptr;
}

TlsMeter::Share::Share(std::shared_ptr<TlsMeter> meter, std::int64_t bound)
    : meter_{std::move(meter)}, bound_{bound} {
    if (meter_->answers_++ == 0) meter_->left_ = 0;
    meter_->bounds_ += bound_;
    meter_->left_ += bound_;
}

TlsMeter::Share::~Share() {
    --meter_->answers_;
    meter_->bounds_ -= bound_;
    meter_->left_ = std::min(meter_->left_, meter_->bounds_);
}

}  // namespace routemaster::detail
