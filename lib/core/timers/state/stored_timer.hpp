/// @file
/// `StoredTimer`: a timer of the state machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/containers/prefetch.hpp"
#include "core/containers/small_blocks.hpp"
#include "core/state/entity.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster::detail {

struct TimerSpace;

struct TimerContent {
    std::string_view payload;
    std::uint32_t retries_max = 0;
    Duration confirm_within{0};  ///< 0: the listener's own `confirm_within` applies.
};

/// A timer in any state. A store may have many millions of timers, so size matters. A timer takes
/// this struct (a cache line), its id and payload, and its entries in two indexes.
struct StoredTimer : Entity {
    /// `texts` stores the id and the content until `release`.
    StoredTimer(TimerSpace& in, std::string_view id, const TimerContent& content,
                SmallBlocks& texts)
        : Entity{Kind::timer}, id_rest_{static_cast<std::uint8_t>(id.size() - 1)}, space{in} {
        text_ = made_text(id, content, texts);
    }

    TimerState state = TimerState::pending;

private:
    std::uint8_t id_rest_;  ///< Length of the id minus 1, because ids are not empty.

public:
    TimePoint at{};  ///< As `TimerStatus::at`.
    TimerSpace& space;

    [[nodiscard]] std::string_view id() const noexcept { return {text_ + id_begin(), id_size()}; }
    [[nodiscard]] std::string_view payload() const noexcept {
        return {text_ + id_begin() + id_size(), head() & ~has_rules};
    }
    /// How often the timer fired without being confirmed in time.
    [[nodiscard]] std::uint32_t retries() const noexcept { return rules().retries; }
    [[nodiscard]] std::uint32_t retries_max() const noexcept { return rules().retries_max; }
    /// 0: the listener's own `confirm_within` applies.
    [[nodiscard]] Duration confirm_within() const noexcept {
        return Duration{rules().confirm_within};
    }
    /// The timer must have retries.
    void set_retries(std::uint32_t retries) noexcept {
        auto all = rules();
        all.retries = retries;
        std::memcpy(text_ + sizeof(std::uint32_t), &all, sizeof all);
    }

    /// Replaces the content. Resets the retries.
    void replace(const TimerContent& content, SmallBlocks& texts) {
        auto* text = made_text(id(), content, texts);
        release(texts);
        text_ = text;
    }
    /// Prefetches the data needed to remove the timer, except the timer itself, into the
    /// processor's cache.
    void fetch() const noexcept {
        prefetch(text_);
        prefetch(age.previous);
        prefetch(age.next);
    }

    void release(SmallBlocks& texts) noexcept {
        texts.free(text_, id_begin() + id_size() + payload().size());
    }

private:
    /// Stored only for timers with retries.
    struct Rules {
        std::uint32_t retries = 0;
        std::uint32_t retries_max = 0;
        std::int64_t confirm_within = 0;
    };
    static constexpr std::uint32_t has_rules = std::uint32_t{1} << 31U;

    [[nodiscard]] std::size_t id_size() const noexcept { return std::size_t{id_rest_} + 1; }
    [[nodiscard]] std::uint32_t head() const noexcept {
        std::uint32_t head = 0;
        std::memcpy(&head, text_, sizeof head);
        return head;
    }
    [[nodiscard]] std::size_t id_begin() const noexcept {
        return sizeof(std::uint32_t) + ((head() & has_rules) != 0 ? sizeof(Rules) : 0);
    }
    [[nodiscard]] Rules rules() const noexcept {
        Rules all;
        if ((head() & has_rules) != 0) {
            std::memcpy(&all, text_ + sizeof(std::uint32_t), sizeof all);
        }
        return all;
    }

    [[nodiscard]] static char* made_text(std::string_view id, const TimerContent& content,
                                         SmallBlocks& texts) {
        const bool ruled = content.retries_max > 0;
        auto head = static_cast<std::uint32_t>(content.payload.size());
        if (ruled) head |= has_rules;
        const Rules all{.retries_max = content.retries_max,
                        .confirm_within = content.confirm_within.count()};
        const auto begin = sizeof head + (ruled ? sizeof all : 0);
        auto* text = texts.allocate(begin + id.size() + content.payload.size());
        std::memcpy(text, &head, sizeof head);
        if (ruled) std::memcpy(text + sizeof head, &all, sizeof all);
        std::memcpy(text + begin, id.data(), id.size());
        std::memcpy(text + begin + id.size(), content.payload.data(), content.payload.size());
        return text;
    }

    /// One block of memory with four parts: the length of the payload and a mark whether rules
    /// follow; the rules; the id; the payload.
    char* text_ = nullptr;
};
static_assert(sizeof(StoredTimer) <= 64, "at most some 120 bytes with its places in the indexes");

}  // namespace routemaster::detail
