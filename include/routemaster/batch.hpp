/// @file
/// A batch: events for one subscriber that are delivered together.
///
///    event ──► batch: CURRENT ──seal (full or stale)──► batch: READY ──delivered | dropped──► gone
///                                                       │    ▲
///                                    failed permanently ▼    │  redeliver
///                                                    batch: DEAD ──dropped──► gone
///
/// A sealed batch accepts no more events. A batch is full with `Subscription::max_events` events or
/// `batch_bytes_max` bytes. A batch is stale when its delivery begins, `Subscription::timeout`
/// after its first event.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/event.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// List of encoded messages, stored one after another in one block of memory. Appending copies a
/// message once, and rarely allocates.
///
/// Thread safety: a plain value; concurrent reads are safe.
class MessageList {
public:
    /// Iterates over the messages in order.
    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = std::string_view;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = std::string_view;

        explicit Iterator(const char* at) noexcept : at_{at} {}
        std::string_view operator*() const noexcept { return {at_ + prefix, length()}; }
        Iterator& operator++() noexcept {
            at_ += prefix + length();
            return *this;
        }
        friend bool operator==(Iterator a, Iterator b) noexcept { return a.at_ == b.at_; }

    private:
        [[nodiscard]] std::size_t length() const noexcept {
            std::uint32_t size = 0;
            std::memcpy(&size, at_, prefix);
            return size;
        }

        const char* at_;
    };

    /// Appends a message of less than 4 GiB.
    void append(std::string_view message) {
        const auto size = static_cast<std::uint32_t>(message.size());
        char length[prefix];
        std::memcpy(length, &size, prefix);
        block_.append(length, prefix).append(message);
        ++count_;
    }

    /// The number of messages.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// Bytes of all messages, plus four bytes for each message.
    [[nodiscard]] std::size_t bytes() const noexcept { return block_.size(); }
    /// Bytes of all messages.
    [[nodiscard]] std::size_t payload_bytes() const noexcept {
        return block_.size() - count_ * prefix;
    }

    [[nodiscard]] Iterator begin() const noexcept { return Iterator{block_.data()}; }
    [[nodiscard]] Iterator end() const noexcept { return Iterator{block_.data() + block_.size()}; }

    friend bool operator==(const MessageList&, const MessageList&) = default;

private:
    static constexpr std::size_t prefix = sizeof(std::uint32_t);

    std::string block_;
    std::size_t count_ = 0;
};

/// A batch of decoded events, as a callback in this process receives it.
struct Batch {
    Uid uid;                    ///< The id of the batch, equal for all deliveries of the batch.
    std::string subscriber;     ///< The token of the subscriber.
    std::uint32_t attempt = 1;  ///< 1 for the first delivery, and so on.
    TimePoint created_at;       ///< When the first event was accepted.
    std::vector<Event> events;  ///< In the order of publication.
};

/// Status of a batch, for operators.
struct BatchStatus {
    Uid uid;
    std::string subscriber;
    TimePoint created_at;
    std::uint32_t attempts = 0;  ///< Number of deliveries that have begun.
    std::uint64_t events = 0;
    bool current = false;  ///< Whether the batch still accepts events: its state is CURRENT.

    friend bool operator==(const BatchStatus&, const BatchStatus&) = default;
};

/// Status of a DEAD batch, for operators. Message queues call a DEAD batch a dead letter.
struct DeadBatchStatus {
    Uid uid;
    std::string subscriber;
    TimePoint created_at;
    TimePoint died_at;
    std::uint32_t attempts = 0;  ///< Number of deliveries that had begun.
    std::uint64_t events = 0;
    std::string error;  ///< Why the last delivery failed; at most `dead_error_max` bytes.

    friend bool operator==(const DeadBatchStatus&, const DeadBatchStatus&) = default;
};

/// A batch with this many bytes of encoded events is full, for any number of events. The last event
/// may exceed the limit. The Redis store counts the memory used by the events, which is more, so
/// its batches are full up to a third earlier. It measures small events only once per 64 events.
inline constexpr std::size_t batch_bytes_max = 1U << 20U;

/// Maximum length of a batch's last error, in bytes. A longer error is truncated.
inline constexpr std::size_t dead_error_max = 500;

/// A DEAD batch and its encoded events.
struct DeadMessages {
    DeadBatchStatus status;
    MessageList messages{};

    friend bool operator==(const DeadMessages&, const DeadMessages&) = default;
};

/// A DEAD batch and its events.
struct DeadBatch {
    DeadBatchStatus status;
    std::vector<Event> events;      ///< In the order of publication.
    std::uint64_t undecodable = 0;  ///< Messages that could not be decoded; `events` omits them.
};

}  // namespace routemaster
