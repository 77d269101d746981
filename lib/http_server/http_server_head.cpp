#include "http_server_head.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace routemaster::detail {
namespace {

bool is_target(std::string_view target) {
    if (target.empty() || !syntax::all(target, syntax::target)) return false;
    return target.front() == '/' || target == "*" || target.find("://") != std::string_view::npos;
}

}  // namespace

HeadReader::Progress HeadReader::read(std::string_view bytes, std::size_t& consumed) {
    consumed = 0;
    while (true) {
        const auto rest = bytes.substr(consumed);
        const auto end = rest.find('\n');
        const auto length = end == std::string_view::npos ? rest.size() : end + 1;
        if (size_ + length > head_size_max) return too_long();
        if (end == std::string_view::npos) {
            // Rejects other protocols, such as TLS, at the first byte.
            const bool foreign = !begun_ && !rest.empty() && rest.front() != '\r' &&
                                 !syntax::all(rest.substr(0, 1), syntax::token);
            return foreign ? refuse(400, "this is not an HTTP request") : Progress::incomplete;
        }
        consumed += length;
        size_ += length;
        if (end == 0 || rest[end - 1] != '\r') {
            return refuse(400, "a line of the head does not end with CR LF");
        }
        const auto line = rest.substr(0, end - 1);
        if (line.empty()) {
            // Clients may send empty lines before a request (RFC 9112 §2.2).
            if (begun_) return finish();
        } else if (!read_line(line)) {
            return Progress::refused;
        }
    }
}

HeadReader::Progress HeadReader::refuse(int status, const char* text) noexcept {
    bad(status, text);
    return Progress::refused;
}

HeadReader::Progress HeadReader::too_long() noexcept {
    return begun_ ? refuse(431, "the head of the request is too large")
                  : refuse(414, "the request line is too long");
}

bool HeadReader::bad(int status, const char* text) noexcept {
    refusal_ = {status, text};
    return false;
}

HeadReader::Progress HeadReader::finish() {
    if (!has_host_ && !head_.old_version) return refuse(400, "Host: is missing");
    if (has_transfer_encoding_) {
        if (head_.content_length) {
            return refuse(400, "Content-Length and Transfer-Encoding exclude each other");
        }
        if (head_.old_version) return refuse(400, "Transfer-Encoding: not in HTTP/1.0");
        if (!head_.chunked) return refuse(501, "Transfer-Encoding: only chunked is supported");
    }
    head_.keep_alive = !asks_to_close_ && (!head_.old_version || asks_to_keep_);
    return Progress::complete;
}

bool HeadReader::read_line(std::string_view line) {
    if (!begun_) {
        begun_ = true;
        return read_request_line(line);
    }
    Field field;
    if (!Field::parse(line, field)) return bad(400, "a header field is malformed");
    return read_field(field);
}

bool HeadReader::read_request_line(std::string_view line) {
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) {
        return bad(400, "the request line is malformed");
    }
    const auto method = line.substr(0, first);
    const auto target = line.substr(first + 1, last - first - 1);
    if (method.empty() || !syntax::all(method, syntax::token) || !is_target(target)) {
        return bad(400, "the request line is malformed");
    }
    head_.method = method;
    head_.target = target;
    return read_version(line.substr(last + 1));
}

bool HeadReader::read_version(std::string_view version) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) ||
        version[6] != '.' || !is_digit(version[7])) {
        return bad(400, "the request line is malformed");
    }
    if (version[5] != '1') return bad(505, "only HTTP/1.0 and HTTP/1.1 are supported");
    head_.old_version = version[7] == '0';
    return true;
}

bool HeadReader::read_field(const Field& field) {
    const auto is = [&](std::string_view word) { return syntax::is(field.name, word); };
    switch (field.name.size()) {
        case 4: return !is("host") || read_host(field.value);
        case 6: return !is("expect") || read_expectation(field.value);
        case 10:
            if (is("connection")) read_connection(field.value);
            return true;
        case 12:
            if (is("content-type") && head_.content_type.empty()) head_.content_type = field.value;
            return true;
        case 13: return !is("authorization") || read_authorization(field.value);
        case 14: return !is("content-length") || read_content_length(field.value);
        case 15: return !is("idempotency-key") || read_idempotency_key(field.value);
        case 17: return !is("transfer-encoding") || read_transfer_encoding(field.value);
        default: return true;
    }
}

bool HeadReader::read_host(std::string_view value) {
    if (has_host_) return bad(400, "Host: occurs twice");
    has_host_ = true;
    return syntax::all(value, syntax::host) || bad(400, "Host: is malformed");
}

bool HeadReader::read_content_length(std::string_view value) {
    if (head_.content_length) return bad(400, "Content-Length: occurs twice");
    if (value.empty() || value.find_first_not_of("0123456789") != std::string_view::npos) {
        return bad(400, "Content-Length: is not a number");
    }
    std::uint64_t length = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), length);
    // A number that overflows exceeds every limit.
    const bool huge = parsed.ec != std::errc{};
    head_.content_length = huge ? std::numeric_limits<std::uint64_t>::max() : length;
    return true;
}

bool HeadReader::read_transfer_encoding(std::string_view value) {
    if (has_transfer_encoding_) return bad(400, "Transfer-Encoding: occurs twice");
    has_transfer_encoding_ = true;
    head_.chunked = syntax::is(value, "chunked");
    return true;
}

bool HeadReader::read_authorization(std::string_view value) {
    // If there are two fields, the server and a proxy might use different fields.
    if (head_.has_authorization) return bad(400, "Authorization: occurs twice");
    head_.has_authorization = true;
    head_.authorization = value;
    return true;
}

bool HeadReader::read_idempotency_key(std::string_view value) {
    if (!head_.idempotency_key.empty()) return bad(400, "Idempotency-Key: occurs twice");
    head_.idempotency_key = value;
    return !value.empty() || bad(400, "Idempotency-Key: is empty");
}

bool HeadReader::read_expectation(std::string_view value) {
    if (!syntax::is(value, "100-continue"))
        return bad(417, "Expect: only 100-continue is supported");
    head_.expects_continue = true;
    return true;
}

void HeadReader::read_connection(std::string_view value) {
    while (!value.empty()) {
        const auto comma = value.find(',');
        const auto option = syntax::trimmed(value.substr(0, comma));
        if (syntax::is(option, "close")) asks_to_close_ = true;
        if (syntax::is(option, "keep-alive")) asks_to_keep_ = true;
        value = comma == std::string_view::npos ? std::string_view{} : value.substr(comma + 1);
    }
}

}  // namespace routemaster::detail
