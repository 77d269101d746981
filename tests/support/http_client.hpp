/// @file
/// `HttpClient`: an HTTP/1.1 client on a raw socket. It sends exactly the given bytes, and returns
/// the response unchanged.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace routemaster::test {

/// A response.
struct HttpReply {
    int status = 0;
    std::map<std::string, std::string> headers;  ///< Names in lower case.
    std::string body;

    [[nodiscard]] bool has(const std::string& name) const { return headers.contains(name); }
};

/// A connection. All errors throw `std::runtime_error`, including a peer that sends nothing before
/// the timeout.
class HttpClient {
public:
    explicit HttpClient(std::uint16_t port, const char* address = "127.0.0.1",
                        std::chrono::seconds timeout = std::chrono::seconds{30}) {
        sockaddr_storage to{};
        socklen_t size = 0;
        auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&to);
        auto* const ipv6 = reinterpret_cast<sockaddr_in6*>(&to);
        if (inet_pton(AF_INET, address, &ipv4->sin_addr) == 1) {
            ipv4->sin_family = AF_INET;
            ipv4->sin_port = htons(port);
            size = sizeof(sockaddr_in);
        } else if (inet_pton(AF_INET6, address, &ipv6->sin6_addr) == 1) {
            ipv6->sin6_family = AF_INET6;
            ipv6->sin6_port = htons(port);
            size = sizeof(sockaddr_in6);
        }
        socket_ = ::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const timeval limit{timeout.count(), 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), size) != 0) {
            close();
            throw std::runtime_error{"cannot connect"};
        }
    }
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    ~HttpClient() { close(); }

    void send(std::string_view bytes) {
        if (!try_send(bytes)) throw std::runtime_error{"cannot send"};
    }

    /// Sends bytes. Returns false when the peer accepts no more.
    [[nodiscard]] bool try_send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    /// Sends a complete request. `extra` are further header lines with their line ends.
    void request(std::string_view method, std::string_view target, std::string_view body = {},
                 std::string_view extra = {}) {
        std::string text;
        text.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: test\r\n");
        text.append(extra);
        if (!body.empty()) {
            text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
        }
        text.append("\r\n").append(body);
        send(text);
    }

    /// Reads the next response. `to_head` means the response to a HEAD request, which has a length
    /// but no body.
    HttpReply receive(bool to_head = false) {
        HttpReply reply;
        const std::string first = line();
        if (!first.starts_with("HTTP/1.1 ")) throw std::runtime_error{"no status line: " + first};
        reply.status = std::stoi(first.substr(9));
        for (std::string each = line(); !each.empty(); each = line()) {
            const auto colon = each.find(": ");
            if (colon == std::string::npos) throw std::runtime_error{"no header: " + each};
            reply.headers[lower_case(each.substr(0, colon))] = each.substr(colon + 2);
        }
        const auto length = reply.headers.find("content-length");
        if (!to_head && length != reply.headers.end()) {
            reply.body = take(std::stoul(length->second));
        } else if (!to_head && reply.has("transfer-encoding")) {
            reply.body = take_chunks();
        }
        return reply;
    }

    /// Sends a request, and returns its response.
    HttpReply ask(std::string_view method, std::string_view target, std::string_view body = {},
                  std::string_view extra = {}) {
        request(method, target, body, extra);
        return receive(method == "HEAD");
    }

    /// Waits until the peer closes. Returns false when the peer sends data instead.
    [[nodiscard]] bool closed_by_peer() { return buffer_.empty() && !fill(); }

    /// Closes the sending half. Responses can still be received.
    void end() { ::shutdown(socket_, SHUT_WR); }

    /// Reads at most 16 KiB once, and drops them. Returns false at the end.
    [[nodiscard]] bool skip_some() {
        buffer_.clear();
        return fill();
    }

    /// Reads until the peer closes, and returns all bytes.
    [[nodiscard]] std::string receive_all() {
        while (fill()) {
        }
        return std::exchange(buffer_, {});
    }

    /// Ends the connection immediately by a reset.
    void reset() {
        const linger at_once{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }

    void close() {
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }

private:
    static std::string lower_case(std::string text) {
        for (char& each : text) {
            each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
        }
        return text;
    }

    /// Returns false at the end of the stream, also after a reset.
    bool fill() {
        char chunk[16384];
        const auto got = ::recv(socket_, chunk, sizeof chunk, 0);
        if (got < 0 && errno == EAGAIN) throw std::runtime_error{"the peer is silent"};
        if (got <= 0) return false;
        buffer_.append(chunk, static_cast<std::size_t>(got));
        return true;
    }

    std::string take(std::size_t size) {
        while (buffer_.size() < size) {
            if (!fill()) throw std::runtime_error{"closed within an answer"};
        }
        std::string taken = buffer_.substr(0, size);
        buffer_.erase(0, size);
        return taken;
    }

    std::string take_chunks() {
        std::string body;
        while (const auto size = std::stoul(line(), nullptr, 16)) {
            body += take(size);
            if (!line().empty()) throw std::runtime_error{"a chunk has no end"};
        }
        if (!line().empty()) throw std::runtime_error{"unexpected trailers"};
        return body;
    }

    std::string line() {
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n")) == std::string::npos) {
            if (!fill()) throw std::runtime_error{"closed instead of an answer"};
        }
        std::string text = take(end);
        take(2);
        return text;
    }

    int socket_ = -1;
    std::string buffer_;
};

/// Whether clients can connect.
inline bool listens(std::uint16_t port) {
    try {
        HttpClient{port};
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

}  // namespace routemaster::test
