/// @file
/// `KeptMessages`: the messages of a batch, in memory or evicted to a journal.

#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "routemaster/batch.hpp"
#include "routemaster/detail/assert.hpp"

namespace routemaster::detail {

/// List of messages whose bytes may be evicted to a journal. Number and size stay known.
///
/// Thread safety: a value.
class KeptMessages {
public:
    [[nodiscard]] bool resident() const noexcept { return !away_; }
    /// The messages, which must be resident in memory.
    [[nodiscard]] const MessageList& list() const noexcept {
        ROUTEMASTER_ASSERT(resident());
        return list_;
    }
    [[nodiscard]] std::size_t size() const noexcept { return away_ ? size_ : list_.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t payload_bytes() const noexcept {
        return away_ ? bytes_ : list_.payload_bytes();
    }

    /// Appends a message. The list must be resident.
    void append(std::string_view message) {
        ROUTEMASTER_ASSERT(resident());
        list_.append(message);
    }

    /// Frees the messages. They must be resident, and readable from a journal later.
    void evict() {
        ROUTEMASTER_ASSERT(resident());
        size_ = list_.size();
        bytes_ = list_.payload_bytes();
        // Swapped out, because an assignment of an empty list would not free the memory.
        const MessageList freed = std::move(list_);
        list_ = {};
        away_ = true;
    }
    void load(MessageList list) {
        list_ = std::move(list);
        away_ = false;
    }

private:
    MessageList list_;
    std::size_t size_ = 0;   ///< While evicted.
    std::size_t bytes_ = 0;  ///< While evicted.
    bool away_ = false;
};

}  // namespace routemaster::detail
