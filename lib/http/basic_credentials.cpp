#include "basic_credentials.hpp"

#include <cstddef>
#include <cstdint>

namespace routemaster::detail {

namespace {

/// Appends `bytes` in Base64 with padding (RFC 4648 §4).
void append_base64(std::string& out, std::string_view bytes) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            group <<= 8U;
            if (i + j < bytes.size()) group |= static_cast<unsigned char>(bytes[i + j]);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            const bool padding = i + j > bytes.size();
            out.push_back(padding ? '=' : alphabet[(group >> (18U - 6U * j)) & 63U]);
        }
    }
}

}  // namespace

std::string basic_credentials(std::string_view user, std::string_view password) {
    std::string pair;
    pair.reserve(user.size() + 1 + password.size());
    pair.append(user).append(":").append(password);
    std::string out = "Basic ";
    append_base64(out, pair);
    return out;
}

}  // namespace routemaster::detail
