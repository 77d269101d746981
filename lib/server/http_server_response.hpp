/// @file
/// Encodes answers as HTTP/1.1.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// The `Date` of answers, made once a second. Thread safety: one thread.
class ResponseDate {
public:
    /// The date now (RFC 9110 §5.6.7), valid until the next call.
    [[nodiscard]] std::string_view text();

private:
    std::chrono::sys_seconds second_{};
    std::string text_;
};

/// What an answer says about the connection.
enum class Persistence {
    kept,          ///< It stays open, the default of HTTP/1.1.
    kept_by_wish,  ///< It stays open as the client asked, which the answer must confirm.
    closed,
};

/// The largest body that is copied into the buffer of the head, and that is not charged.
inline constexpr std::size_t small_body_max = 4'096;

/// How the client finds the end of a body.
enum class Framing { length, chunked, closing };

/// Appends status line and header fields of `response` to `bytes`. Returns false, and appends
/// nothing, when HTTP cannot express it: a status outside 200 to 999, a name that is not a token, a
/// value with a control character, or a field that only the server writes.
[[nodiscard]] bool write_answer_head(std::string& bytes, const HttpResponse& response,
                                     std::string_view date, Persistence persistence,
                                     Framing framing = Framing::length);

/// Appends the line in front of a chunk of `size` bytes (RFC 9112 §7.1).
void append_chunk_size(std::string& bytes, std::size_t size);

inline constexpr std::string_view chunk_end = "\r\n";
/// What follows the last chunk.
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Whether answers of that status have a body: RFC 9110 §15.3.5 and §15.4.5.
[[nodiscard]] constexpr bool has_content(int status) noexcept {
    return status != 204 && status != 304;
}

/// An answer of the server itself.
[[nodiscard]] HttpResponse own_answer(int status, std::string text);

}  // namespace routemaster::detail
