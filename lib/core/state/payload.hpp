/// @file
/// `Payload`: the bytes of an encoded job, and their hash.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/containers/small_blocks.hpp"
#include "routemaster/detail/assert.hpp"

namespace routemaster::detail {

/// The hash of encoded jobs and of keys: Austin Appleby's MurmurHash64A with seed 0, whose two
/// halves are combined by XOR. Files contain hashes of jobs, so the function must be equal on all
/// machines and never change.
[[nodiscard]] inline std::uint32_t payload_hash(std::string_view bytes) noexcept {
    constexpr std::uint64_t factor = 0xc6a4a7935bd1e995;
    constexpr std::size_t word = sizeof(std::uint64_t);
    // Reads in little-endian order on every machine.
    const auto read = [](const char* at) {
        std::uint64_t value = 0;
        std::memcpy(&value, at, word);
        return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
    };
    const auto scatter = [](std::uint64_t value) { return value ^ (value >> 47U); };
    auto hash = bytes.size() * factor;
    const auto whole = bytes.size() / word * word;
    for (std::size_t at = 0; at < whole; at += word) {
        hash = (hash ^ scatter(read(bytes.data() + at) * factor) * factor) * factor;
    }
    if (const auto rest = bytes.size() - whole; rest > 0) {
        char last[word] = {};
        std::memcpy(last, bytes.data() + whole, rest);
        hash = (hash ^ read(last)) * factor;
    }
    hash = scatter(scatter(hash) * factor);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

/// The hash of a job with a key, computed from its id, because its bytes do not identify the job.
/// Files contain this hash, too.
[[nodiscard]] constexpr std::uint32_t id_hash(std::uint64_t id) noexcept {
    return static_cast<std::uint32_t>(id ^ (id >> 32U));
}

/// The bytes of an encoded job. There may be more jobs than fit in memory, so the bytes may be
/// evicted to a journal. Size and hash are always known. All calls must pass the same memory as the
/// constructor, and the payload must be freed before this memory is destroyed.
///
/// Not thread safe.
class Payload {
public:
    /// Copies `bytes`, whose hash is `hash`. `bytes` must be smaller than 4 GiB.
    Payload(SmallBlocks& memory, std::string_view bytes, std::uint32_t hash)
        : size_{static_cast<std::uint32_t>(bytes.size())}, hash_{hash} {
        ROUTEMASTER_ASSERT(bytes.size() == size_);
        fill(memory, bytes, 0);
    }
    Payload(const Payload&) = delete;
    Payload& operator=(const Payload&) = delete;
    ~Payload() { ROUTEMASTER_ASSERT(!resident()); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t hash() const noexcept { return hash_; }

    [[nodiscard]] bool resident() const noexcept { return (block_ & elsewhere) == 0; }

    /// The bytes, which must be resident in memory.
    [[nodiscard]] std::string_view text() const noexcept {
        ROUTEMASTER_ASSERT(resident());
        return {block() + sizeof(std::uint32_t), size_};
    }

    /// Offset of the bytes in their journal row; 0 before `note_offset`.
    [[nodiscard]] std::uint32_t offset() const noexcept {
        if (!resident()) return static_cast<std::uint32_t>(block_ >> 1U);
        std::uint32_t offset = 0;
        std::memcpy(&offset, block(), sizeof offset);
        return offset;
    }
    /// Sets the offset. The bytes must be resident.
    void note_offset(std::uint32_t offset) noexcept {
        ROUTEMASTER_ASSERT(resident());
        std::memcpy(block(), &offset, sizeof offset);
    }

    /// Replaces the bytes, but not the hash. `bytes` must be smaller than 4 GiB.
    void replace(SmallBlocks& memory, std::string_view bytes) {
        const auto before = block_;
        fill(memory, bytes, 0);
        if ((before & elsewhere) == 0) {
            memory.free(reinterpret_cast<char*>(before), sizeof(std::uint32_t) + size_);
        }
        size_ = static_cast<std::uint32_t>(bytes.size());
        ROUTEMASTER_ASSERT(bytes.size() == size_);
    }

    /// Frees the resident bytes. A journal can read them back by `offset`.
    void evict(SmallBlocks& memory) noexcept {
        const auto offset = this->offset();
        memory.free(block(), sizeof offset + size_);
        block_ = std::uintptr_t{offset} << 1U | elsewhere;
    }
    void load(SmallBlocks& memory, std::string_view bytes) {
        ROUTEMASTER_ASSERT(!resident() && bytes.size() == size_);
        fill(memory, bytes, offset());
    }

    /// Frees the bytes, if resident, at the end of the job.
    void free(SmallBlocks& memory) noexcept {
        if (resident()) evict(memory);
    }

private:
    /// Bit that marks `block_` as an offset instead of an address.
    static constexpr std::uintptr_t elsewhere = 1;

    [[nodiscard]] char* block() const noexcept { return reinterpret_cast<char*>(block_); }

    void fill(SmallBlocks& memory, std::string_view bytes, std::uint32_t offset) {
        auto* block = memory.allocate(sizeof offset + bytes.size());
        std::memcpy(block, &offset, sizeof offset);
        std::memcpy(block + sizeof offset, bytes.data(), bytes.size());
        block_ = reinterpret_cast<std::uintptr_t>(block);
    }

    /// Either the address of a block (the offset, followed by the bytes), or the marked offset
    /// alone. There are millions of payloads, and a separate member for the offset would take 8
    /// bytes more in each.
    std::uintptr_t block_ = 0;
    std::uint32_t size_;
    std::uint32_t hash_;
};

}  // namespace routemaster::detail
