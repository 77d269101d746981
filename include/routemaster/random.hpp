/// @file
/// `Random`: seeded random numbers, equal on every platform for equal seeds.

#pragma once

#include <cstdint>

namespace routemaster {

/// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014; constants of Vigna's public-domain version): a bijection that scatters bits.
[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

/// A SplitMix64 generator. Equal seeds yield equal numbers. Not for secrets.
///
/// Thread safety: a value; copy it instead of sharing it.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) noexcept : state_{seed} {}

    /// The next 64 bits, uniformly distributed.
    constexpr std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        return scatter(state_);
    }

    /// A number in [0, bound), uniform up to a bias below 2^-32 for bounds below 2^32. `bound` must
    /// not be 0.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }

    /// A number in [0, 1), of 53 random bits.
    constexpr double unit() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

private:
    std::uint64_t state_;
};

}  // namespace routemaster
