/// @file
/// Limits how much libcurl reads over TLS: in one call, and for one response.

#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace routemaster::detail {

/// The weight of the data that libcurl may still read over TLS in the current call, from all
/// connections.
///
/// In a call, libcurl and OpenSSL read records until a record has data for a transfer. Without a
/// limit, a fast peer could keep them in the call without end. When the budget is spent, reads
/// behave as if the socket were empty. The data stay in the kernel, and the next socket event
/// continues the connection.
class TurnBudget {
public:
    /// Must be called before each call of libcurl.
    void refill() noexcept { left_ = turn_max; }
    void spend(std::int64_t weight) noexcept { left_ -= weight + operation_weight; }
    [[nodiscard]] bool is_spent() const noexcept { return left_ <= 0; }

private:
    static constexpr std::int64_t turn_max = 32'768;  ///< Two full records, or 16 tiny reads.
    static constexpr std::int64_t operation_weight = 1'024;

    std::int64_t left_ = turn_max;
};

/// The weight of the data that a TLS connection may still receive for the responses under way.
///
/// Each response adds its limit. When a response ends, the remainder is reduced to the sum of the
/// limits of the remaining responses, so that a connection does not accumulate unused weight.
///
/// Thread safety: one thread, the thread of the transfers.
class TlsMeter {
public:
    /// A read counts as its bytes plus this weight: a record of a few bytes takes as much work as a
    /// record of a thousand bytes, and two reads.
    static constexpr std::int64_t read_weight = 1'024;
    /// The weight of a TLS message after the handshake, such as a session ticket. Such a message
    /// takes up to 0.3 ms.
    static constexpr std::int64_t message_weight = 65'536;

    /// Whether libcurl uses this library's OpenSSL. With another TLS library, there are no meters.
    [[nodiscard]] static bool is_available();

    /// Meters all TLS connections that `handle` opens. `budget` must outlive the connections.
    [[nodiscard]] static CURLcode meter(CURL* handle, TurnBudget& budget);

    /// The meter of the connection that `handle` uses; null without TLS.
    [[nodiscard]] static std::shared_ptr<TlsMeter> of(CURL* handle);

    /// The share of a response in the limit of its connection, from construction to destruction.
    class Share {
    public:
        Share(std::shared_ptr<TlsMeter> meter, std::int64_t bound);
        ~Share();
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

        [[nodiscard]] bool is_of(const std::shared_ptr<TlsMeter>& meter) const noexcept {
            return meter_ == meter;
        }
        /// Whether the connection received more than the limits of all its responses. The
        /// connection then receives no more.
        [[nodiscard]] bool is_exceeded() const noexcept { return meter_->left_ < 0; }

    private:
        const std::shared_ptr<TlsMeter> meter_;
        const std::int64_t bound_;
    };

    explicit TlsMeter(TurnBudget& budget) noexcept : budget_{budget} {}

    [[nodiscard]] bool may_read() const noexcept {
        return !budget_.is_spent() && (answers_ == 0 || left_ >= 0);
    }
    void count(std::int64_t weight) noexcept {
        budget_.spend(weight);
        left_ -= weight;
    }

private:
    TurnBudget& budget_;
    std::size_t answers_ = 0;  ///< Responses under way.
    std::int64_t bounds_ = 0;  ///< The sum of their limits.
    std::int64_t left_ = 0;
};

}  // namespace routemaster::detail
