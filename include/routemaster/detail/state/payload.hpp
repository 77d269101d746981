/// @file
/// The bytes of a job in one block of memory, and the hash by which they are found.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "routemaster/detail/assert.hpp"

namespace routemaster::detail {

/// The hash of encoded jobs, in 32 bits.
[[nodiscard]] inline std::uint32_t payload_hash(std::string_view bytes) noexcept {
    const std::uint64_t hash = std::hash<std::string_view>{}(bytes);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

/// An encoded job. Its size and its hash are known even where the bytes themselves are not.
///
/// Thread safety: a value.
class Payload {
public:
    /// Copies `bytes`, whose hash is `hash`. They must be fewer than 4 GiB.
    Payload(std::string_view bytes, std::uint32_t hash)
        : bytes_{new char[bytes.size()]},
          size_{static_cast<std::uint32_t>(bytes.size())},
          hash_{hash} {
        ROUTEMASTER_ASSERT(bytes.size() == size_);
        std::memcpy(bytes_.get(), bytes.data(), bytes.size());
    }

    /// The encoded job.
    [[nodiscard]] std::string_view text() const noexcept { return {bytes_.get(), size_}; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t hash() const noexcept { return hash_; }

    /// Whether it is the job of these bytes.
    [[nodiscard]] bool is(std::string_view bytes) const noexcept { return text() == bytes; }

private:
    std::unique_ptr<char[]> bytes_;
    std::uint32_t size_;
    std::uint32_t hash_;
};

}  // namespace routemaster::detail
