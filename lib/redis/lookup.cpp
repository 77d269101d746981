#include "lookup.hpp"

#include <netdb.h>

#include <cstring>
#include <string>
#include <utility>

#include "core/system/thread.hpp"

namespace routemaster::redis {

namespace {

Result<std::vector<SocketAddress>> ask(const RedisAddress& address, int flags, int& code) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const auto port = std::to_string(address.port);
    code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &list);
    if (code != 0) return Error{Errc::unavailable, ::gai_strerror(code)};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{list, &::freeaddrinfo};
    std::vector<SocketAddress> found;
    for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
        if (each->ai_addrlen > sizeof(sockaddr_storage)) continue;
        auto& copy = found.emplace_back();
        std::memcpy(&copy.storage, each->ai_addr, each->ai_addrlen);
        copy.size = each->ai_addrlen;
    }
    if (found.empty()) return Error{Errc::unavailable, "the name has no address"};
    return found;
}

}  // namespace

Lookup::Lookup(const RedisAddress& address, std::shared_ptr<detail::Waker> waker) {
    int code = 0;
    auto digits = ask(address, AI_NUMERICHOST, code);
    if (code != EAI_NONAME) {
        query_->result = std::move(digits);
        return;
    }
    try {
        detail::start_thread([query = query_, address, waker = std::move(waker)] {
            int ignored = 0;
            auto result = ask(address, 0, ignored);
            {
                const std::lock_guard lock{query->mutex};
                query->result = std::move(result);
            }
            waker->wake();
        }).detach();
    } catch (const Failure& failure) {
        query_->result = failure.error();
    }
}

std::optional<Result<std::vector<SocketAddress>>> Lookup::result() const {
    const std::lock_guard lock{query_->mutex};
    return query_->result;
}

}  // namespace routemaster::redis
