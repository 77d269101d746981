#include "link_context.hpp"

#include <openssl/crypto.h>

#include <utility>

namespace routemaster::redis {

LinkContext make_link_context(RedisOptions options) {
    if (options.addresses.empty()) throw Failure{{Errc::invalid, "addresses: must not be empty"}};
    if (options.timeout <= Duration::zero()) {
        throw Failure{{Errc::invalid, "timeout: must be positive"}};
    }
    // OpenSSL frees its state in an exit handler, which it registers at its first use. Scripts are
    // hashed with OpenSSL, even in the destructors of a static store or pool. This call registers
    // the handler early, which makes the handler run after these destructors. Without an option,
    // the call would do nothing.
    OPENSSL_init_crypto(OPENSSL_INIT_ADD_ALL_DIGESTS, nullptr);
    DialOptions dial{.timeout = options.timeout, .waker = std::make_shared<detail::Waker>()};
    if (options.tls) dial.tls = std::make_shared<const Tls>(options.tls_ca_file);
    return {.options = std::move(options), .dial = std::move(dial)};
}

}  // namespace routemaster::redis
