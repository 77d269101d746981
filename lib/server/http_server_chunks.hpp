/// @file
/// A body in chunks (RFC 9112 §7.1).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http_server_syntax.hpp"

namespace routemaster::detail {

/// Takes a chunked body apart as it arrives. Extensions and trailers are read and forgotten, within
/// bounds: the line of a chunk's size takes 256 bytes, all trailers `head_size_max`.
///
/// Thread safety: a value.
class ChunkReader {
public:
    enum class Progress { incomplete, complete, refused };

    /// Reads on in `bytes`, which begin where the last call stopped: `consumed` of them were taken,
    /// `data` is what of them belongs to the body. When none were, more are needed. Call it again
    /// until then.
    [[nodiscard]] Progress read(std::string_view bytes, std::size_t& consumed,
                                std::string_view& data);

    /// Why it was refused.
    [[nodiscard]] const RequestError& refusal() const noexcept { return refusal_; }

private:
    enum class Part { size, data, data_end, trailers };

    [[nodiscard]] Progress read_size(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress read_data_end(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress read_trailer(std::string_view bytes, std::size_t& consumed);
    [[nodiscard]] Progress refuse(int status, const char* text) noexcept;

    Part part_ = Part::size;
    std::uint64_t left_ = 0;  ///< Of the chunk.
    std::size_t trailers_size_ = 0;
    RequestError refusal_;
};

}  // namespace routemaster::detail
