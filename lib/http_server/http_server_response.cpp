#include "http_server_response.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <utility>

#include "http_server_syntax.hpp"

namespace routemaster::detail {
namespace {

constexpr const char* plain_text = "text/plain;charset=utf-8";

constexpr std::string_view reason(int status) noexcept {
    switch (status) {
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 304: return "Not Modified";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 413: return "Content Too Large";
        case 414: return "URI Too Long";
        case 417: return "Expectation Failed";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 505: return "HTTP Version Not Supported";
        default: return {};
    }
}

/// Whether only the server may write a field, because it affects the framing of the response.
bool is_ours(std::string_view name) noexcept {
    constexpr std::array names{"connection", "content-length", "date", "transfer-encoding"};
    return std::any_of(names.begin(), names.end(),
                       [&](const char* each) { return syntax::is(name, each); });
}

bool can_be_said(const HttpResponse& response) noexcept {
    return response.status >= 200 && response.status <= 999 &&
           syntax::all(response.content_type, syntax::value) &&
           std::all_of(response.headers.begin(), response.headers.end(), [](const auto& field) {
               return !field.first.empty() && syntax::all(field.first, syntax::token) &&
                      syntax::all(field.second, syntax::value) && !is_ours(field.first);
           });
}

void append_field(std::string& bytes, std::string_view name, std::string_view value) {
    bytes.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view ResponseDate::text() {
    constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    if (now == second_ && !text_.empty()) return text_;
    second_ = now;
    const std::time_t time = std::chrono::system_clock::to_time_t(now);
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::array<char, 80> line{};
    // strftime would print the names in the process's locale.
    const int size = std::snprintf(line.data(), line.size(), "%s, %02d %s %d %02d:%02d:%02d GMT",
                                   days.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                                   months.at(static_cast<std::size_t>(parts.tm_mon)),
                                   parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
    text_.assign(line.data(), static_cast<std::size_t>(size));
    return text_;
}

bool write_answer_head(std::string& bytes, const HttpResponse& response, std::string_view date,
                       Persistence persistence, Framing framing) {
    if (!can_be_said(response)) return false;
    bytes.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
    bytes.append(reason(response.status)).append("\r\n");
    append_field(bytes, "Date", date);
    if (persistence == Persistence::closed) append_field(bytes, "Connection", "close");
    if (persistence == Persistence::kept_by_wish) append_field(bytes, "Connection", "keep-alive");
    const bool content = has_content(response.status);
    if (content && !response.content_type.empty()) {
        append_field(bytes, "Content-Type", response.content_type);
    }
    for (const auto& [name, value] : response.headers) append_field(bytes, name, value);
    if (content && framing == Framing::length) {
        append_field(bytes, "Content-Length", std::to_string(response.body.size()));
    }
    if (content && framing == Framing::chunked) append_field(bytes, "Transfer-Encoding", "chunked");
    bytes.append("\r\n");
    return true;
}

void append_chunk_size(std::string& bytes, std::size_t size) {
    std::array<char, 16> digits{};
    char* const begin = digits.data();
    char* const end = std::to_chars(begin, begin + digits.size(), size, 16).ptr;
    bytes.append(begin, end).append("\r\n");
}

HttpResponse own_answer(int status, std::string text) {
    HttpResponse response{status, std::move(text), plain_text, {}};
    response.body += '\n';
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    if (status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

}  // namespace routemaster::detail
