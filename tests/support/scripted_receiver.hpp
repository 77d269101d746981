/// @file
/// `ScriptedReceiver`: an HTTP receiver on a raw socket, whose responses come from a script.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace routemaster::test {

/// A request, unchanged.
struct ReceivedRequest {
    std::string bytes;           ///< Head and body.
    std::size_t connection = 0;  ///< The number of its connection, from 0.
    std::size_t number = 0;      ///< The number of the request, from 0.

    [[nodiscard]] std::string_view body() const {
        return std::string_view{bytes}.substr(bytes.find("\r\n\r\n") + 4);
    }
    /// The target of the request line.
    [[nodiscard]] std::string_view target() const {
        const auto start = bytes.find(' ') + 1;
        return std::string_view{bytes}.substr(start, bytes.find(' ', start) - start);
    }
};

/// The reaction of the receiver to a request.
struct ScriptedReply {
    std::string bytes{};  ///< Sent unchanged; empty for no response.
    bool close = false;   ///< Closes the connection afterwards.
};

/// A response without a body.
inline ScriptedReply status(int code) {
    return {.bytes = "HTTP/1.1 " + std::to_string(code) + " Status\r\n" +
                     (code == 204 ? "" : "Content-Length: 0\r\n") + "\r\n"};
}

/// No response, ever.
inline ScriptedReply silence() { return {}; }

/// Listens on 127.0.0.1, or a different address, until destroyed. One thread serves all
/// connections.
class ScriptedReceiver {
public:
    using Script = std::function<ScriptedReply(const ReceivedRequest&)>;

    explicit ScriptedReceiver(Script script, std::uint32_t host = INADDR_LOOPBACK)
        : script_{std::move(script)} {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(host);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 4'096) != 0 ||
            ::getsockname(listener_, any, &size) != 0) {
            throw std::runtime_error{"cannot listen"};
        }
        port_ = ntohs(address.sin_port);
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        wake_ = eventfd(0, EFD_CLOEXEC);
        watch(listener_);
        watch(wake_);
        thread_ = std::thread{[this] { run(); }};
    }

    ~ScriptedReceiver() {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
        }
        wake();
        thread_.join();
        for (const auto& [socket, connection] : open_) ::close(socket);
        ::close(listener_);
        ::close(epoll_);
        ::close(wake_);
    }

    ScriptedReceiver(const ScriptedReceiver&) = delete;
    ScriptedReceiver& operator=(const ScriptedReceiver&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::string url(std::string_view path = "/events") const {
        return "http://127.0.0.1:" + std::to_string(port_) + std::string{path};
    }

    /// The requests so far.
    [[nodiscard]] std::vector<ReceivedRequest> requests() const {
        const std::lock_guard lock{mutex_};
        return requests_;
    }
    /// Waits for `count` requests. Throws at the timeout.
    void wait_for_requests(std::size_t count) const {
        std::unique_lock lock{mutex_};
        if (!changed_.wait_for(lock, timeout, [&] { return requests_.size() >= count; })) {
            throw std::runtime_error{"requests do not come"};
        }
    }
    /// The number of connections so far.
    [[nodiscard]] std::size_t connections() const {
        const std::lock_guard lock{mutex_};
        return connections_;
    }

    /// Closes all connections before it returns.
    void close_connections() {
        std::unique_lock lock{mutex_};
        closing_ = true;
        wake();
        if (!changed_.wait_for(lock, timeout, [&] { return !closing_; })) {
            throw std::runtime_error{"connections do not close"};
        }
    }

private:
    struct Connection {
        std::size_t number = 0;
        std::string unread;
    };

    static constexpr std::chrono::seconds timeout{60};

    void watch(int socket) const {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = socket;
        epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
    }

    void wake() const {
        const std::uint64_t call = 1;
        if (::write(wake_, &call, sizeof call) != sizeof call) std::abort();
    }

    void run() {
        std::array<epoll_event, 64> events;
        while (true) {
            const int count =
                epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
            for (int i = 0; i < count; ++i) {
                const int socket = events[static_cast<std::size_t>(i)].data.fd;
                if (socket == wake_) {
                    if (!obey()) return;
                } else if (socket == listener_) {
                    accept();
                } else if (open_.contains(socket)) {
                    receive(socket);
                }
            }
        }
    }

    /// Carries out the requests of other threads. Returns false when the receiver must stop.
    bool obey() {
        std::uint64_t calls = 0;
        if (::read(wake_, &calls, sizeof calls) != sizeof calls) std::abort();
        const std::lock_guard lock{mutex_};
        if (stopping_) return false;
        for (const auto& [socket, connection] : open_) ::close(socket);
        open_.clear();
        closing_ = false;
        changed_.notify_all();
        return true;
    }

    void accept() {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) return;
        watch(socket);
        const std::lock_guard lock{mutex_};
        open_[socket].number = connections_++;
    }

    void receive(int socket) {
        std::array<char, 65'536> bytes;
        const auto size = ::recv(socket, bytes.data(), bytes.size(), 0);
        if (size <= 0) return close(socket);
        Connection& connection = open_.at(socket);
        connection.unread.append(bytes.data(), static_cast<std::size_t>(size));
        while (const auto length = request_length(connection.unread)) {
            ReceivedRequest request{.bytes = connection.unread.substr(0, *length),
                                    .connection = connection.number,
                                    .number = received_++};
            connection.unread.erase(0, *length);
            const ScriptedReply reply = script_(request);
            keep(std::move(request));
            if (!send(socket, reply.bytes) || reply.close) return close(socket);
        }
    }

    /// The length of the first request; nothing while it is incomplete.
    static std::optional<std::size_t> request_length(const std::string& bytes) {
        constexpr std::string_view name = "content-length: ";
        const auto head = bytes.find("\r\n\r\n");
        if (head == std::string::npos) return std::nullopt;
        std::string lower = bytes.substr(0, head);
        for (auto& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
        const auto at = lower.find(name);
        const std::size_t body = at == std::string::npos
                                     ? 0
                                     : std::strtoull(lower.c_str() + at + name.size(), nullptr, 10);
        const std::size_t length = head + 4 + body;
        if (bytes.size() < length) return std::nullopt;
        return length;
    }

    void keep(ReceivedRequest request) {
        const std::lock_guard lock{mutex_};
        requests_.push_back(std::move(request));
        changed_.notify_all();
    }

    static bool send(int socket, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    void close(int socket) {
        ::close(socket);
        const std::lock_guard lock{mutex_};
        open_.erase(socket);
    }

    Script script_;
    int listener_ = -1;
    int epoll_ = -1;
    int wake_ = -1;
    std::uint16_t port_ = 0;
    std::map<int, Connection> open_;  ///< Changed by the thread only.
    std::size_t received_ = 0;

    mutable std::mutex mutex_;  ///< Guards the next members.
    mutable std::condition_variable changed_;
    std::vector<ReceivedRequest> requests_;
    std::size_t connections_ = 0;
    bool stopping_ = false;
    bool closing_ = false;

    std::thread thread_;
};

}  // namespace routemaster::test
