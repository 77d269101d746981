#include "fresh_token.hpp"

#include <sys/random.h>

#include <sys/types.h>
#include <array>
#include <cerrno>

namespace routemaster::api {

Result<std::string> fresh_token(std::string_view owner) {
    std::array<unsigned char, token_random_bytes> bytes{};
    ssize_t got = 0;
    do {
        // So few bytes come all at once, or not at all when a signal interrupts the wait for the
        // machine's first randomness.
        got = getrandom(bytes.data(), bytes.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(bytes.size())) {
        return Error{Errc::unavailable, "randomness for a token"};
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string token{owner};
    token += "--";
    for (const auto byte : bytes) token.append({digits[byte >> 4U], digits[byte & 15U]});
    return token;
}

}  // namespace routemaster::api
