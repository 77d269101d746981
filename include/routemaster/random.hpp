/// @file
/// `Random`: a seeded generator of random numbers, identical on all platforms.

#pragma once

#include <cstdint>

namespace routemaster {

/// The mixing function of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014; constants of Vigna's public-domain version). It is a bijection.
[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

/// A SplitMix64 generator. Equal seeds yield equal numbers. Not cryptographically secure.
///
/// Thread safety: a value; copy it instead of sharing it.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) noexcept : state_{seed} {}

    /// Returns 64 random bits.
    constexpr std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        return scatter(state_);
    }

    /// Returns a number in [0, bound), uniform up to a bias below 2^-32 for bounds below 2^32.
    /// `bound` must not be 0.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }

    /// Returns a number in [0, 1) with 53 random bits.
    constexpr double unit() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

private:
    std::uint64_t state_;
};

}  // namespace routemaster
