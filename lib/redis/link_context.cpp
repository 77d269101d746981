#include "link_context.hpp"

#include <utility>

namespace routemaster::redis {

LinkContext make_link_context(RedisOptions options) {
    if (options.addresses.empty()) throw Failure{{Errc::invalid, "addresses: there are none"}};
    if (options.timeout <= Duration::zero()) {
        throw Failure{{Errc::invalid, "timeout: must be positive"}};
    }
    DialOptions dial{.timeout = options.timeout, .waker = std::make_shared<detail::Waker>()};
    if (options.tls) dial.tls = std::make_shared<const Tls>(options.tls_ca_file);
    return {.options = std::move(options), .dial = std::move(dial)};
}

}  // namespace routemaster::redis
