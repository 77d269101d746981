/// @file
/// Frames of an HTTP/2 server (RFC 9113, section 6).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace routemaster::test {

/// The types of frames.
namespace frame {
inline constexpr std::uint8_t data = 0x0;
inline constexpr std::uint8_t headers = 0x1;
inline constexpr std::uint8_t priority = 0x2;
inline constexpr std::uint8_t settings = 0x4;
inline constexpr std::uint8_t ping = 0x6;
inline constexpr std::uint8_t window_update = 0x8;
inline constexpr std::uint8_t continuation = 0x9;
inline constexpr std::uint8_t unknown = 0xee;

inline constexpr std::uint8_t end_headers = 0x4;  ///< A flag of `headers` and `continuation`.
inline constexpr std::uint8_t padded = 0x8;       ///< A flag of `data`.
}  // namespace frame

/// Encodes a frame.
inline std::string http2_frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                               std::string_view payload = {}) {
    std::string bytes;
    const auto append = [&bytes](std::size_t number, unsigned octets) {
        while (octets-- > 0) bytes += static_cast<char>(number >> 8U * octets & 0xffU);
    };
    append(payload.size(), 3);
    append(type, 1);
    append(flags, 1);
    append(stream, 4);
    return bytes.append(payload);
}

/// A header field without indexing. Its name is an index below 15 of HPACK's static table.
inline std::string hpack_field(char name, std::string_view value) {
    return std::string{name} + static_cast<char>(value.size()) + std::string{value};
}

/// The header block with a status.
inline std::string hpack_status(std::string_view status) { return hpack_field('\x08', status); }

}  // namespace routemaster::test
