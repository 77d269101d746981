/// @file
/// Encoder for HTTP/1.1 responses.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

/// Cache of the `Date` header field, formatted once per second. Thread safety: one thread.
class ResponseDate {
public:
    /// Returns the current date (RFC 9110 §5.6.7). Valid until the next call.
    [[nodiscard]] std::string_view text();

private:
    std::chrono::sys_seconds second_{};
    std::string text_;
};

/// Whether the connection is kept alive, as announced by the `Connection` header field.
enum class Persistence {
    kept,          ///< Kept alive by default (HTTP/1.1).
    kept_by_wish,  ///< Kept alive as the client requested: `keep-alive`.
    closed,
};

/// Maximum size of a body that is copied behind the head, and does not count for the budget.
inline constexpr std::size_t small_body_max = 4'096;

enum class Framing { length, chunked, closing };

/// Appends the status line and the header fields of `response` to `bytes`. Returns false without a
/// change if HTTP cannot represent the response: a status outside 200 to 999, a name that is not a
/// token, a value with a control character, or a field that only the server may write.
[[nodiscard]] bool write_answer_head(std::string& bytes, const HttpResponse& response,
                                     std::string_view date, Persistence persistence,
                                     Framing framing = Framing::length);

/// Appends the size line of a chunk of `size` bytes (RFC 9112 §7.1).
void append_chunk_size(std::string& bytes, std::size_t size);

inline constexpr std::string_view chunk_end = "\r\n";
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Whether responses with `status` have a body (RFC 9110 §15.3.5, §15.4.5).
[[nodiscard]] constexpr bool has_content(int status) noexcept {
    return status != 204 && status != 304;
}

/// Creates a response of the server itself, not of the handler.
[[nodiscard]] HttpResponse own_answer(int status, std::string text);

}  // namespace routemaster::detail
