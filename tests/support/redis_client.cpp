#include "support/redis_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace routemaster::test {

std::string RedisReply::dump() const {
    if (kind == Kind::nothing) return "nothing";
    if (kind != Kind::list) return text;
    std::string all = "[";
    for (const auto& each : list) {
        if (all.size() > 1) all += ", ";
        all += each.dump();
    }
    return all + "]";
}

RedisClient::RedisClient(const RedisAddress& address)
    : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(address.port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    constexpr timeval timeout{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
        ::close(socket_);
        throw RedisFailure{"nobody listens at port " + std::to_string(address.port)};
    }
}

RedisClient::~RedisClient() { ::close(socket_); }

RedisReply RedisClient::command(const std::vector<std::string>& words) {
    std::string out = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto& word : words) {
        out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    }
    for (std::size_t at = 0; at < out.size();) {
        const auto sent = ::send(socket_, out.data() + at, out.size() - at, MSG_NOSIGNAL);
        if (sent <= 0) throw RedisFailure{"the server takes no command"};
        at += static_cast<std::size_t>(sent);
    }
    return reply();
}

void RedisClient::fill() {
    std::array<char, 65'536> buffer;
    ssize_t size = 0;
    // With a receive timeout, a process that is stopped and continued gets EINTR even without a
    // signal handler.
    do {
        size = ::recv(socket_, buffer.data(), buffer.size(), 0);
    } while (size < 0 && errno == EINTR);
    if (size <= 0) throw RedisFailure{"the server does not answer"};
    read_.erase(0, std::exchange(used_, 0));
    read_.append(buffer.data(), static_cast<std::size_t>(size));
}

std::string RedisClient::line() {
    std::size_t end = 0;
    while ((end = read_.find("\r\n", used_)) == std::string::npos) fill();
    auto text = read_.substr(used_, end - used_);
    used_ = end + 2;
    return text;
}

std::string RedisClient::bytes(std::size_t size) {
    while (read_.size() - used_ < size + 2) fill();
    auto text = read_.substr(used_, size);
    used_ += size + 2;
    return text;
}

RedisReply RedisClient::reply() {
    using Kind = RedisReply::Kind;
    const auto head = line();
    auto rest = head.substr(1);
    const auto number = std::strtoll(rest.c_str(), nullptr, 10);
    switch (head.front()) {
        case '+': return {.kind = Kind::text, .text = std::move(rest)};
        case ':': return {.kind = Kind::number, .text = std::move(rest), .number = number};
        case '-': throw RedisFailure{rest};
        case '$':
            if (number < 0) return {};
            return {.kind = Kind::text, .text = bytes(static_cast<std::size_t>(number))};
        case '*': {
            if (number < 0) return {};
            RedisReply all{.kind = Kind::list};
            for (std::int64_t i = 0; i < number; ++i) all.list.push_back(reply());
            return all;
        }
        default: throw RedisFailure{"odd reply: " + head};
    }
}

RedisReply redis_command(const RedisAddress& address, const std::vector<std::string>& words) {
    return RedisClient{address}.command(words);
}

std::string redis_info(std::string_view info, std::string_view name) {
    const auto key = std::string{name} + ":";
    for (std::size_t at = 0; at < info.size();) {
        const auto end = info.find("\r\n", at);
        const auto text = info.substr(at, end == std::string_view::npos ? end : end - at);
        if (text.starts_with(key)) return std::string{text.substr(key.size())};
        at = end == std::string_view::npos ? info.size() : end + 2;
    }
    return {};
}

}  // namespace routemaster::test
