/// @file
/// `Uid`: ids of batches and workers, 120 random bits as 20 characters of URL-safe Base64.

#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/random.hpp"

namespace routemaster {

/// A globally unique id of 20 characters from `[A-Za-z0-9_-]` (RFC 4648 §5, no padding).
///
/// Thread safety: a value.
class Uid {
public:
    /// The length of the text form, in characters.
    static constexpr std::size_t length = 20;

    /// The nil id, twenty times `A`. No object has this id.
    constexpr Uid() noexcept { text_.fill('A'); }

    /// Constructs an id from the upper 60 bits of each half.
    constexpr Uid(std::uint64_t high, std::uint64_t low) noexcept {
        for (std::size_t i = 0; i < length / 2; ++i) {
            const auto shift = static_cast<unsigned>(58U - 6U * i);
            text_[i] = alphabet[(high >> shift) & 63U];
            text_[i + length / 2] = alphabet[(low >> shift) & 63U];
        }
    }

    /// Parses the text form; returns nothing if `text` is not a valid id.
    [[nodiscard]] static constexpr std::optional<Uid> parse(std::string_view text) noexcept {
        if (text.size() != length) return std::nullopt;
        Uid uid;
        for (std::size_t i = 0; i < length; ++i) {
            if (alphabet.find(text[i]) == std::string_view::npos) return std::nullopt;
            uid.text_[i] = text[i];
        }
        return uid;
    }

    /// Returns the text form, 20 characters.
    [[nodiscard]] constexpr std::string_view text() const noexcept {
        return {text_.data(), text_.size()};
    }

    /// Returns this id with its last 18 bits replaced by `index` (modulo 2^18). A step that creates
    /// a batch for each of several subscribers gets one random id, and derives the ids of the
    /// batches by this function.
    [[nodiscard]] constexpr Uid sibling(std::uint32_t index) const noexcept {
        Uid uid = *this;
        for (std::size_t i = 0; i < 3; ++i) {
            uid.text_[length - 3 + i] = alphabet[(index >> (12U - 6U * i)) & 63U];
        }
        return uid;
    }

    friend constexpr auto operator<=>(const Uid&, const Uid&) noexcept = default;

private:
    static constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    std::array<char, length> text_;
};

/// Generator of ids, from a seeded sequence.
///
/// Thread safety: `next` may be called from any thread; it is one atomic addition.
class UidSource {
public:
    /// Two sources with one of the two seeds equal still differ in 60 bits of their ids.
    UidSource(std::uint64_t seed_high, std::uint64_t seed_low) noexcept
        : high_{seed_high}, low_{seed_low} {}

    /// Returns an id that this source has not returned before.
    Uid next() noexcept {
        const auto step = counter_.fetch_add(1, std::memory_order_relaxed) * 0x9e3779b97f4a7c15U;
        return {scatter(high_ + step), scatter(low_ + step)};
    }

private:
    std::uint64_t high_;
    std::uint64_t low_;
    std::atomic<std::uint64_t> counter_{1};
};

}  // namespace routemaster

/// Hash function of `Uid`, over its text form.
template <>
struct std::hash<routemaster::Uid> {
    std::size_t operator()(const routemaster::Uid& uid) const noexcept {
        return std::hash<std::string_view>{}(uid.text());
    }
};
