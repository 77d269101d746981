/// @file
/// Sinks that encode MessagePack into a string, or only compute the encoded length.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <msgpack/pack.hpp>

#include "routemaster/detail/assert.hpp"

namespace routemaster::detail {

class StringStream {
public:
    explicit StringStream(std::string& out) noexcept : out_{out} {}
    /// Most writes are a single byte, for which `push_back` is faster.
    void write(const char* bytes, std::size_t size) {
        size == 1 ? out_.push_back(*bytes) : void(out_.append(bytes, size));
    }

private:
    std::string& out_;
};

/// Output stream for msgpack-c's packer that only counts bytes.
class CountingStream {
public:
    void write(const char*, std::size_t size) noexcept { size_ += size; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::size_t size_ = 0;
};

/// Sink that encodes MessagePack. Texts, arrays and maps must have less than 2^32 bytes or items.
template <class Stream>
class MsgpackWriter {
public:
    explicit MsgpackWriter(Stream& stream) : stream_{stream}, packer_{stream} {}

    bool null() {
        packer_.pack_nil();
        return true;
    }
    bool boolean(bool truth) {
        truth ? packer_.pack_true() : packer_.pack_false();
        return true;
    }
    bool integer(std::int64_t number) {
        packer_.pack_int64(number);
        return true;
    }
    bool natural(std::uint64_t number) {
        packer_.pack_uint64(number);
        return true;
    }
    /// msgpack-c's own function would encode 1.0 as the integer 1, which is a different value.
    bool real(double number) {
        constexpr std::size_t size = 9;
        char bytes[size] = {'\xcb'};
        const auto bits = std::bit_cast<std::uint64_t>(number);
        for (std::size_t i = 1; i < size; ++i) {
            bytes[i] = static_cast<char>((bits >> (8U * (size - 1 - i))) & 0xffU);
        }
        stream_.write(bytes, size);
        return true;
    }
    bool text(std::string_view text) {
        const std::uint32_t size = length(text.size());
        packer_.pack_str(size);
        packer_.pack_str_body(text.data(), size);
        return true;
    }
    bool begin_array(std::size_t size) {
        packer_.pack_array(length(size));
        return true;
    }
    bool begin_map(std::size_t size) {
        packer_.pack_map(length(size));
        return true;
    }
    bool key(std::string_view name) { return text(name); }
    bool end_array() { return true; }
    bool end_map() { return true; }

private:
    [[nodiscard]] static std::uint32_t length(std::size_t size) {
        ROUTEMASTER_ASSERT(size <= UINT32_MAX);
        return static_cast<std::uint32_t>(size);
    }

    Stream& stream_;
    msgpack::packer<Stream> packer_;
};

}  // namespace routemaster::detail
