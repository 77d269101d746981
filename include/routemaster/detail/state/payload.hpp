/// @file
/// The bytes of a job in one block of memory, and the hash by which they are found.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

#include "routemaster/detail/assert.hpp"

namespace routemaster::detail {

/// The hash of encoded jobs, in 32 bits.
[[nodiscard]] inline std::uint32_t payload_hash(std::string_view bytes) noexcept {
    const std::uint64_t hash = std::hash<std::string_view>{}(bytes);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

/// An encoded job. Its size and its hash are known even while its bytes are only in a journal:
/// there may be more jobs than fit in memory.
///
/// Thread safety: none.
class Payload {
public:
    /// Copies `bytes`, whose hash is `hash`. They must be fewer than 4 GiB.
    Payload(std::string_view bytes, std::uint32_t hash)
        : size_{static_cast<std::uint32_t>(bytes.size())}, hash_{hash} {
        ROUTEMASTER_ASSERT(bytes.size() == size_);
        fill(bytes, 0);
    }
    Payload(const Payload&) = delete;
    Payload& operator=(const Payload&) = delete;
    ~Payload() { clear(); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t hash() const noexcept { return hash_; }

    /// Whether the bytes are in memory.
    [[nodiscard]] bool resident() const noexcept { return (block_ & elsewhere) == 0; }

    /// The encoded job. It must be resident.
    [[nodiscard]] std::string_view text() const noexcept {
        ROUTEMASTER_ASSERT(resident());
        return {block() + sizeof(std::uint32_t), size_};
    }

    /// Where in its row of the journal the bytes begin; 0 until that is noted.
    [[nodiscard]] std::uint32_t offset() const noexcept {
        if (!resident()) return static_cast<std::uint32_t>(block_ >> 1U);
        std::uint32_t offset = 0;
        std::memcpy(&offset, block(), sizeof offset);
        return offset;
    }
    /// Notes it. The bytes must be resident.
    void note_offset(std::uint32_t offset) noexcept {
        ROUTEMASTER_ASSERT(resident());
        std::memcpy(block(), &offset, sizeof offset);
    }

    /// Frees the bytes, which must be resident, and can be read again at `offset`.
    void let_go() noexcept {
        const auto offset = this->offset();
        clear();
        block_ = std::uintptr_t{offset} << 1U | elsewhere;
    }
    /// Gives back the bytes that were let go.
    void bring_back(std::string_view bytes) {
        ROUTEMASTER_ASSERT(!resident() && bytes.size() == size_);
        fill(bytes, offset());
    }

private:
    /// Marks an offset, which stands where the address of a block would be.
    static constexpr std::uintptr_t elsewhere = 1;

    [[nodiscard]] char* block() const noexcept { return reinterpret_cast<char*>(block_); }

    void fill(std::string_view bytes, std::uint32_t offset) {
        auto* block = new char[sizeof offset + bytes.size()];
        std::memcpy(block, &offset, sizeof offset);
        std::memcpy(block + sizeof offset, bytes.data(), bytes.size());
        block_ = reinterpret_cast<std::uintptr_t>(block);
    }
    void clear() noexcept {
        if (resident()) delete[] block();
    }

    /// The address of the offset and, behind it, the bytes; or the offset alone, marked. There are
    /// millions of these, and an offset beside the address would cost each of them eight bytes.
    std::uintptr_t block_ = 0;
    std::uint32_t size_;
    std::uint32_t hash_;
};

}  // namespace routemaster::detail
