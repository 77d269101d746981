#include "support/tcp_gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

namespace routemaster::test {

namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

void set(int socket, int level, int option) {
    const int on = 1;
    ::setsockopt(socket, level, option, &on, sizeof on);
}

}  // namespace

TcpGate::TcpGate(std::uint16_t to) : to_{to}, wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    listen(0);
    thread_ = std::thread{[this] { run(); }};
}

TcpGate::~TcpGate() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    wake();
    thread_.join();
    for (auto& pair : pairs_) close(pair, false);
    if (listener_ >= 0) ::close(listener_);
    ::close(wake_);
}

void TcpGate::listen(std::uint16_t port) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    set(listener_, SOL_SOCKET, SO_REUSEADDR);
    auto at = loopback(port);
    socklen_t size = sizeof at;
    auto* const any = reinterpret_cast<sockaddr*>(&at);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, any, &size) != 0) {
        throw std::runtime_error{"the gate cannot listen"};
    }
    port_ = ntohs(at.sin_port);
}

void TcpGate::wake() const {
    const std::uint64_t call = 1;
    [[maybe_unused]] const auto size = ::write(wake_, &call, sizeof call);
}

void TcpGate::cut() {
    const std::lock_guard lock{mutex_};
    for (auto& pair : pairs_) close(pair, true);
    wake();
}

void TcpGate::cut_after(std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    reply_allowance_ = bytes;
    wake();
}

void TcpGate::cut_request_after(std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    request_allowance_ = bytes;
    wake();
}

void TcpGate::fall_silent() {
    const std::lock_guard lock{mutex_};
    silent_ = true;
    wake();
}

void TcpGate::fall_silent(std::size_t connection) {
    const std::lock_guard lock{mutex_};
    for (auto& pair : pairs_) pair.silent = pair.silent || pair.number == connection;
    wake();
}

void TcpGate::stall_after(std::size_t bytes) {
    const std::lock_guard lock{mutex_};
    silent_ = false;
    reply_stall_ = bytes;
    wake();
}

void TcpGate::speak() {
    const std::lock_guard lock{mutex_};
    silent_ = false;
    reply_stall_.reset();
    wake();
}

void TcpGate::refuse() {
    const std::lock_guard lock{mutex_};
    if (listener_ >= 0) ::close(std::exchange(listener_, -1));
    wake();
}

void TcpGate::admit() {
    const std::lock_guard lock{mutex_};
    if (listener_ < 0) listen(port_);
    wake();
}

void TcpGate::delay(std::chrono::milliseconds by) {
    const std::lock_guard lock{mutex_};
    delay_ = by;
    wake();
}

void TcpGate::falsify(std::function<void(std::string&)> change) {
    const std::lock_guard lock{mutex_};
    falsify_ = std::move(change);
}

std::size_t TcpGate::connections() const {
    const std::lock_guard lock{mutex_};
    return connections_;
}

std::size_t TcpGate::bytes_to_server() const {
    const std::lock_guard lock{mutex_};
    return bytes_to_server_;
}

void TcpGate::run() {
    std::unique_lock lock{mutex_};
    while (!stopping_) {
        std::vector<pollfd> polled{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
        for (const auto& pair : pairs_) {
            // Backpressure: while earlier bytes cannot be passed on, no further bytes are read.
            const auto events = [&](const Way& in) -> short {
                return in.ended || (delay_.count() == 0 && in.delayed.size() > 1) ? 0 : POLLIN;
            };
            polled.push_back({pair.client, events(pair.there), 0});
            polled.push_back({pair.server, events(pair.back), 0});
        }
        const int milliseconds = timeout();
        lock.unlock();
        ::poll(polled.data(), polled.size(), milliseconds);
        lock.lock();
        std::uint64_t calls = 0;
        [[maybe_unused]] const auto size = ::read(wake_, &calls, sizeof calls);
        std::size_t next = 2;
        for (auto& pair : pairs_) {
            const auto& client = polled[next++];
            const auto& upstream = polled[next++];
            if (!pair.over) take(pair, client.revents != 0, upstream.revents != 0);
            if (!pair.over) pass_on(pair);
        }
        pairs_.remove_if([](const Pair& pair) { return pair.over; });
        if (listener_ >= 0 && polled[1].revents != 0) accept();
    }
}

void TcpGate::accept() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    const auto number = connections_++;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto at = loopback(to_);
    Pair pair{.client = client, .server = server, .there = {}, .back = {}, .number = number};
    if (::connect(server, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) {
        return close(pair, true);
    }
    set(client, IPPROTO_TCP, TCP_NODELAY);
    set(server, IPPROTO_TCP, TCP_NODELAY);
    pairs_.push_back(std::move(pair));
}

std::string TcpGate::receive(int from, Way& way) {
    std::array<char, 65'536> buffer;
    const auto size = ::recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size > 0) return {buffer.data(), static_cast<std::size_t>(size)};
    if (size == 0 || errno != EAGAIN) way.ended = true;
    return {};
}

void TcpGate::take(Pair& pair, bool from_client, bool from_server) {
    auto there = from_client ? receive(pair.client, pair.there) : std::string{};
    auto back = from_server ? receive(pair.server, pair.back) : std::string{};
    if (falsify_) falsify_(back);
    if (!there.empty()) pair.there.delayed.push_back({Clock::now(), std::move(there)});
    if (!back.empty()) pair.back.delayed.push_back({Clock::now(), std::move(back)});
}

void TcpGate::pass_on(Pair& pair) {
    if (silent_ || pair.silent) return;
    if (!pass_on(pair.there, pair.server, request_allowance_, pair, true)) return;
    pass_on(pair.back, pair.client, reply_allowance_, pair, false);
}

bool TcpGate::pass_on(Way& way, int to, std::optional<std::size_t>& allowance, Pair& pair,
                      bool reset) {
    while (!way.delayed.empty() && way.delayed.front().at + delay_ <= Clock::now()) {
        auto& bytes = way.delayed.front().bytes;
        auto size = allowance ? std::min(*allowance, bytes.size()) : bytes.size();
        const bool is_held = to == pair.client && reply_stall_;
        if (is_held) size = std::min(size, *reply_stall_);
        if (size == 0) return true;
        const auto sent = ::send(to, bytes.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) {
            close(pair, true);
            return false;
        }
        const auto gone = static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
        if (to == pair.server) bytes_to_server_ += gone;
        if (allowance && *allowance == gone) {
            allowance.reset();
            close(pair, reset);
            return false;
        }
        if (allowance) *allowance -= gone;
        if (is_held) *reply_stall_ -= gone;
        bytes.erase(0, gone);
        if (!bytes.empty()) return true;
        way.delayed.pop_front();
    }
    if (way.ended && way.delayed.empty()) {
        close(pair, false);
        return false;
    }
    return true;
}

void TcpGate::close(Pair& pair, bool reset) {
    if (std::exchange(pair.over, true)) return;
    if (reset) {
        const linger at_once{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(pair.client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        ::setsockopt(pair.server, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    ::close(pair.client);
    ::close(pair.server);
}

/// The timeout of `poll`: a millisecond while delayed bytes wait.
int TcpGate::timeout() const {
    if (silent_) return -1;
    for (const auto& pair : pairs_) {
        if (pair.silent) continue;
        if (!pair.there.delayed.empty() || !pair.back.delayed.empty()) return 1;
    }
    return -1;
}

}  // namespace routemaster::test
