/// @file
/// Parses MessagePack into a sink. Depth and memory are bounded, even if the bytes claim enormous
/// sizes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <msgpack/null_visitor.hpp>
#include <msgpack/unpack.hpp>

#include "core/codec/sink.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::detail {

/// Adapter between msgpack-c's parser and a sink. Binary strings count as texts. Extension types,
/// and keys that are not texts, stop the parser.
template <Sink S>
class MsgpackVisitor : public msgpack::null_visitor {
public:
    explicit MsgpackVisitor(S& sink) noexcept : sink_{sink} {}

    bool visit_nil() { return !in_key_ && sink_.null(); }
    bool visit_boolean(bool truth) { return !in_key_ && sink_.boolean(truth); }
    bool visit_positive_integer(std::uint64_t number) {
        if (in_key_) return false;
        return number <= std::uint64_t{INT64_MAX} ? sink_.integer(static_cast<std::int64_t>(number))
                                                  : sink_.natural(number);
    }
    bool visit_negative_integer(std::int64_t number) { return !in_key_ && sink_.integer(number); }
    bool visit_float32(float number) { return !in_key_ && sink_.real(double{number}); }
    bool visit_float64(double number) { return !in_key_ && sink_.real(number); }
    bool visit_str(const char* begin, std::uint32_t size) {
        const std::string_view text{begin, size};
        return in_key_ ? sink_.key(text) : sink_.text(text);
    }
    bool visit_bin(const char* begin, std::uint32_t size) { return visit_str(begin, size); }
    bool visit_ext(const char*, std::uint32_t) { return false; }
    bool start_array(std::uint32_t size) { return deeper() && sink_.begin_array(size); }
    bool end_array() { return shallower() && sink_.end_array(); }
    bool start_map(std::uint32_t size) { return deeper() && sink_.begin_map(size); }
    bool end_map() { return shallower() && sink_.end_map(); }
    bool start_map_key() { return in_key_ = true; }
    bool end_map_key() {
        in_key_ = false;
        return true;
    }

private:
    bool deeper() noexcept { return !in_key_ && ++depth_ <= msgpack_depth_max; }
    bool shallower() noexcept {
        --depth_;
        return true;
    }

    S& sink_;
    std::size_t depth_ = 0;
    bool in_key_ = false;
};

/// Parses `bytes`, which must be exactly one value, into the sink. False if the value is cut short,
/// is followed by more bytes, is nested too deeply or has a type unknown to `Value`, and if the
/// sink stopped the parser.
template <Sink S>
[[nodiscard]] bool parse_msgpack(std::string_view bytes, S& sink) {
    MsgpackVisitor<S> visitor{sink};
    std::size_t offset = 0;
    return msgpack::parse(bytes.data(), bytes.size(), offset, visitor) && offset == bytes.size();
}

}  // namespace routemaster::detail
