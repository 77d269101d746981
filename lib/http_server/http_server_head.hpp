/// @file
/// `HeadReader`: parser for the head of a request, which is the request line and the header fields.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http_server_syntax.hpp"

namespace routemaster::detail {

/// The fields of a request head that the server uses.
struct RequestHead {
    std::string method;
    std::string target;
    std::string authorization;
    std::string content_type;
    std::string idempotency_key;
    bool has_authorization = false;
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    bool expects_continue = false;
    bool keep_alive = true;    ///< Whether the connection may stay open.
    bool old_version = false;  ///< HTTP/1.0.

    [[nodiscard]] bool has_body() const noexcept {
        return chunked || content_length.value_or(0) > 0;
    }
};

/// Incremental, strict parser of request heads. If the server and the proxy in front of it
/// interpret a malformed request differently, an attacker can hide a request inside another
/// request (request smuggling). Therefore the rules of RFC 9112 are applied strictly: each
/// line ends with CR LF, a colon follows each name directly, `Host` and `Content-Length`
/// must not occur twice, and `Content-Length` must not occur together with
/// `Transfer-Encoding`.
///
/// Thread safety: a value.
class HeadReader {
public:
    enum class Progress { incomplete, complete, refused };

    /// Parses the complete lines of `bytes`, which must begin where the last call stopped. Sets
    /// `consumed` to their size. The caller must pass the remaining bytes again, together with more
    /// bytes.
    [[nodiscard]] Progress read(std::string_view bytes, std::size_t& consumed);

    [[nodiscard]] RequestHead& head() noexcept { return head_; }
    [[nodiscard]] const RequestHead& head() const noexcept { return head_; }

    [[nodiscard]] bool begun() const noexcept { return begun_; }

    [[nodiscard]] const RequestError& refusal() const noexcept { return refusal_; }

private:
    [[nodiscard]] Progress refuse(int status, const char* text) noexcept;
    [[nodiscard]] Progress too_long() noexcept;
    [[nodiscard]] Progress finish();
    bool read_line(std::string_view line);
    bool read_request_line(std::string_view line);
    bool read_version(std::string_view version);
    bool read_field(const Field& field);
    bool read_host(std::string_view value);
    bool read_content_length(std::string_view value);
    bool read_transfer_encoding(std::string_view value);
    bool read_authorization(std::string_view value);
    bool read_idempotency_key(std::string_view value);
    bool read_expectation(std::string_view value);
    void read_connection(std::string_view value);
    bool bad(int status, const char* text) noexcept;

    RequestHead head_;
    std::size_t size_ = 0;
    bool begun_ = false;
    bool has_host_ = false;
    bool has_transfer_encoding_ = false;
    bool asks_to_close_ = false;
    bool asks_to_keep_ = false;
    RequestError refusal_;
};

}  // namespace routemaster::detail
