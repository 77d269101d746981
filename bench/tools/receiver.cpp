// A subscriber of the bus, for benchmarks: responds to each POST with 204, counts the events, and
// checks their order.
//
//   bench_receiver [--arrivals]
//
// Listens on a free port of the loopback interface, prints `listening on URL` on standard output,
// and runs until it is killed. One thread, epoll, HTTP/1.1 with keep-alive and pipelining.
//
//   POST /NAME     a batch for the subscriber NAME: a JSON array of events -> 204
//   POST /silent…  no response
//   POST /failing… -> 500
//   GET /report    the events since the last reset, as JSON
//   GET /arrivals  with --arrivals: [NAME, number, nanoseconds by CLOCK_MONOTONIC] of each event
//   POST /reset    forgets all events -> 204
//
// The number of an event is at the end of its URL. In correct order the numbers of a subscriber
// increase by one from event to event. `repeated` counts numbers that do not increase, `skipped`
// counts missing numbers.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

std::int64_t monotonic_nanoseconds() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}

/// The number of the latest event of each subscriber; numbers begin with 1.
using Latest = std::map<std::string, std::uint64_t, std::less<>>;

/// The arrival of an event.
struct Arrival {
    std::string_view subscriber;
    std::uint64_t number;
    std::int64_t at_ns;
};

/// The totals of all subscribers.
struct Report {
    std::uint64_t requests = 0;
    std::uint64_t events = 0;
    std::uint64_t repeated = 0;
    std::uint64_t skipped = 0;
    std::int64_t first_ns = 0;  ///< The arrival of the first batch.
    std::int64_t last_ns = 0;   ///< The arrival of the latest batch.
    Latest subscribers;
    std::vector<Arrival> arrivals;
};

/// Counts batches into a report.
class Counter {
public:
    explicit Counter(bool keeps_arrivals) : keeps_arrivals_{keeps_arrivals} {}

    void count(std::string_view subscriber, std::string_view batch) {
        const auto now = monotonic_nanoseconds();
        if (report_.requests++ == 0) report_.first_ns = now;
        report_.last_ns = now;
        auto found = report_.subscribers.find(subscriber);
        if (found == report_.subscribers.end()) {
            found = report_.subscribers.emplace(subscriber, 0).first;
        }
        constexpr std::string_view key = R"("url":")";
        for (auto at = batch.find(key); at != std::string_view::npos;) {
            const auto begin = at + key.size();
            const auto end = std::min(batch.find('"', begin), batch.size());
            count(*found, number_at_the_end(batch.substr(begin, end - begin)), now);
            at = batch.find(key, end);
        }
    }

    void reset() { report_ = {}; }

    [[nodiscard]] std::string report() const {
        const auto field = [](const char* name, auto value) {
            return '"' + std::string{name} + "\":" + std::to_string(value);
        };
        return '{' + field("requests", report_.requests) + ',' + field("events", report_.events) +
               ',' + field("repeated", report_.repeated) + ',' + field("skipped", report_.skipped) +
               ',' + field("subscribers", report_.subscribers.size()) + ',' +
               field("first_ns", report_.first_ns) + ',' + field("last_ns", report_.last_ns) + "}";
    }

    [[nodiscard]] std::string arrivals() const {
        std::string json = "[";
        for (const auto& [subscriber, number, at] : report_.arrivals) {
            if (json.size() > 1) json += ',';
            json.append("[\"").append(subscriber).append("\",") += std::to_string(number);
            json.append(",").append(std::to_string(at)) += ']';
        }
        return json + ']';
    }

private:
    static std::uint64_t number_at_the_end(std::string_view url) {
        auto begin = url.size();
        while (begin > 0 && url[begin - 1] >= '0' && url[begin - 1] <= '9') --begin;
        std::uint64_t number = 0;
        std::from_chars(url.data() + begin, url.data() + url.size(), number);
        return number;
    }

    void count(Latest::value_type& latest, std::uint64_t number, std::int64_t now) {
        auto& [subscriber, last] = latest;
        ++report_.events;
        if (number <= last) {
            ++report_.repeated;
        } else {
            report_.skipped += number - last - 1;
        }
        last = std::max(last, number);
        if (keeps_arrivals_) report_.arrivals.push_back({subscriber, number, now});
    }

    bool keeps_arrivals_;
    Report report_;
};

/// A complete request in a buffer.
struct Request {
    std::string_view method;
    std::string_view path;
    std::string_view body;
    std::size_t size = 0;  ///< The bytes of the request in the buffer.
};

std::size_t content_length(std::string_view headers) {
    constexpr std::string_view name = "\r\ncontent-length:";
    const auto matches = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    const auto found =
        std::search(headers.begin(), headers.end(), name.begin(), name.end(), matches);
    if (found == headers.end()) return 0;
    auto digits = headers.substr(static_cast<std::size_t>(found - headers.begin()) + name.size());
    while (digits.starts_with(' ')) digits.remove_prefix(1);
    std::size_t length = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), length);
    return length;
}

/// The request at the beginning of `bytes`; nothing while it is incomplete.
std::optional<Request> parse(std::string_view bytes) {
    const auto end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    const auto headers = bytes.substr(0, end);
    const auto length = content_length(headers);
    const auto begin = end + 4;
    if (bytes.size() - begin < length) return std::nullopt;
    const auto line = headers.substr(0, headers.find("\r\n"));
    const auto method = line.substr(0, line.find(' '));
    const auto target = line.substr(std::min(method.size() + 1, line.size()));
    const auto path = target.substr(0, target.find(' '));
    return Request{method, path.empty() ? "/" : path, bytes.substr(begin, length), begin + length};
}

/// Handles requests.
class Service {
public:
    explicit Service(bool keeps_arrivals) : counter_{keeps_arrivals} {}

    void answer(const Request& request, std::string& out) {
        if (request.method == "POST" && request.path.starts_with("/silent")) return;
        if (request.method == "POST" && request.path.starts_with("/failing")) {
            out += server_error;
        } else if (request.method == "POST" && request.path != "/reset") {
            counter_.count(request.path.substr(1), request.body);
            out += no_content;
        } else if (request.method == "POST") {
            counter_.reset();
            out += no_content;
        } else {
            const auto text = request.path == "/arrivals" ? counter_.arrivals() : counter_.report();
            out += "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(text.size()) +
                   "\r\n\r\n" + text;
        }
    }

private:
    static constexpr std::string_view no_content = "HTTP/1.1 204 No Content\r\n\r\n";
    static constexpr std::string_view server_error =
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";

    Counter counter_;
};

int checked(int result, const char* doing) {
    if (result < 0) throw std::system_error{errno, std::generic_category(), doing};
    return result;
}

/// A client's incomplete request, and the responses still to be sent.
struct Connection {
    std::string in;
    std::string out;
};

/// Serves all connections by one thread.
class Server {
public:
    explicit Server(Service& service) : service_{service} {
        listener_ =
            checked(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        checked(bind(listener_, any, sizeof address), "bind");
        checked(listen(listener_, SOMAXCONN), "listen");
        socklen_t size = sizeof address;
        checked(getsockname(listener_, any, &size), "getsockname");
        port_ = ntohs(address.sin_port);
        epoll_ = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
        watch(listener_);
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    [[noreturn]] void run() {
        std::array<epoll_event, 256> events{};
        while (true) {
            const int count =
                epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
            for (int i = 0; i < count; ++i) {
                const int socket = events[static_cast<std::size_t>(i)].data.fd;
                socket == listener_ ? accept_all() : serve(socket);
            }
        }
    }

private:
    void watch(int socket) const {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = socket;
        checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event), "epoll_ctl");
    }

    void accept_all() {
        while (true) {
            const int socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (socket < 0) return;
            const int on = 1;
            setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            connections_[socket] = {};
            watch(socket);
        }
    }

    void serve(int socket) {
        auto& connection = connections_[socket];
        const auto size = recv(socket, buffer_.data(), buffer_.size(), 0);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size <= 0) return close_connection(socket);
        connection.in.append(buffer_.data(), static_cast<std::size_t>(size));
        std::size_t used = 0;
        while (const auto request = parse(std::string_view{connection.in}.substr(used))) {
            service_.answer(*request, connection.out);
            used += request->size;
        }
        connection.in.erase(0, used);
        if (!connection.out.empty() && !send_all(socket, connection.out)) close_connection(socket);
        connection.out.clear();
    }

    /// May wait for space in the socket: responses are short, and clients read them.
    static bool send_all(int socket, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
            if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    void close_connection(int socket) {
        connections_.erase(socket);
        close(socket);
    }

    Service& service_;
    int listener_ = -1;
    int epoll_ = -1;
    std::uint16_t port_ = 0;
    std::vector<char> buffer_ = std::vector<char>(256U << 10U);
    std::unordered_map<int, Connection> connections_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> arguments{argv + 1, argv + argc};
    const bool keeps_arrivals =
        std::find(arguments.begin(), arguments.end(), "--arrivals") != arguments.end();
    try {
        Service service{keeps_arrivals};
        Server server{service};
        std::cout << "listening on http://127.0.0.1:" << server.port() << std::endl;
        server.run();
    } catch (const std::exception& error) {
        std::cerr << "receiver: " << error.what() << std::endl;
        return 1;
    }
}
