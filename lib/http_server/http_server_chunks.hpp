/// @file
/// Decoder for chunked request bodies (RFC 9112 §7.1).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http_server_syntax.hpp"

namespace routemaster::detail {

/// Incremental decoder of a chunked body. Discards extensions and trailers, which are limited: 256
/// bytes for the line with a chunk's size, and `head_size_max` for all trailers.
///
/// Thread safety: a value.
class ChunkReader {
public:
    enum class Progress { incomplete, complete, refused };

    /// Decodes `bytes`, which must begin where the last call stopped. Sets `consumed` to the
    /// number of consumed bytes, and `data` to those that belong to the body. If `consumed` is not
    /// 0, the caller must call again with the remaining bytes. If it is 0, the decoder needs more
    /// bytes.
    [[nodiscard]] Progress read(std::string_view bytes, std::size_t& consumed,
                                std::string_view& data);

    /// Number of bytes of the current chunk that were not decoded.
    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

    [[nodiscard]] const RequestError& refusal() const noexcept { return refusal_; }

private:
    enum class Part { size, data, data_end, trailers };

    [[nodiscard]] Progress read_size(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress read_data_end(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress read_trailer(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress refuse(int status, const char* text) noexcept;

    Part part_ = Part::size;
    std::uint64_t left_ = 0;
    std::size_t trailers_size_ = 0;
    RequestError refusal_;
};

}  // namespace routemaster::detail
