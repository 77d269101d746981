/// @file
/// A hash with a secret key, for texts chosen by clients.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace routemaster::detail {

/// Hash function SipHash-1-3 (Aumasson and Bernstein, *SipHash: a fast short-input PRF*, 2012, with
/// the number of rounds usual in hash tables). Without the key, a client cannot choose texts whose
/// hashes collide.
///
/// Thread safety: a value.
class KeyedHash {
public:
    KeyedHash(std::uint64_t key0, std::uint64_t key1) noexcept : key0_{key0}, key1_{key1} {}

    [[nodiscard]] std::uint64_t operator()(std::string_view text) const noexcept {
        State state{key0_ ^ 0x736f6d6570736575, key1_ ^ 0x646f72616e646f6d,
                    key0_ ^ 0x6c7967656e657261, key1_ ^ 0x7465646279746573};
        const auto whole = text.size() / word * word;
        for (std::size_t at = 0; at < whole; at += word) {
            state.compress(read(text.data() + at, word));
        }
        const auto rest = read(text.data() + whole, text.size() - whole);
        state.compress(rest | std::uint64_t{text.size()} << 56U);
        state.v2 ^= 0xff;
        for (int i = 0; i < 3; ++i) state.round();
        return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
    }

private:
    static constexpr std::size_t word = sizeof(std::uint64_t);

    struct State {
        std::uint64_t v0;
        std::uint64_t v1;
        std::uint64_t v2;
        std::uint64_t v3;

        void compress(std::uint64_t block) noexcept {
            v3 ^= block;
            round();
            v0 ^= block;
        }
        void round() noexcept {
            v0 += v1;
            v2 += v3;
            v1 = std::rotl(v1, 13) ^ v0;
            v3 = std::rotl(v3, 16) ^ v2;
            v0 = std::rotl(v0, 32);
            v2 += v1;
            v0 += v3;
            v1 = std::rotl(v1, 17) ^ v2;
            v3 = std::rotl(v3, 21) ^ v0;
            v2 = std::rotl(v2, 32);
        }
    };

    /// Loads up to eight bytes as a little-endian number, on every machine. Compilers turn the loop
    /// into one instruction.
    static std::uint64_t read(const char* at, std::size_t size) noexcept {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i) {
            value |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8U * i);
        }
        return value;
    }

    std::uint64_t key0_;
    std::uint64_t key1_;
};

}  // namespace routemaster::detail
