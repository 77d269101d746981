/// @file
/// A body in chunks (RFC 9112 §7.1).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http_server_syntax.hpp"

namespace routemaster::detail {

/// Decodes a chunked body as it arrives. It reads extensions and trailers and discards them, within
/// bounds: the line of a chunk's size takes 256 bytes, all trailers `head_size_max`.
///
/// Thread safety: a value.
class ChunkReader {
public:
    enum class Progress { incomplete, complete, refused };

    /// Reads `bytes`, which begin where the last call stopped. It consumes `consumed` of them;
    /// `data` is the part that belongs to the body. Call it again until it consumes none: then it
    /// needs more.
    [[nodiscard]] Progress read(std::string_view bytes, std::size_t& consumed,
                                std::string_view& data);

    /// Bytes that the chunk which has begun still announces.
    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

    /// Why the body was refused.
    [[nodiscard]] const RequestError& refusal() const noexcept { return refusal_; }

private:
    enum class Part { size, data, data_end, trailers };

    [[nodiscard]] Progress read_size(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress read_data_end(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress read_trailer(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress refuse(int status, const char* text) noexcept;

    Part part_ = Part::size;
    std::uint64_t left_ = 0;  ///< Bytes of the chunk that are still to come.
    std::size_t trailers_size_ = 0;
    RequestError refusal_;
};

}  // namespace routemaster::detail
