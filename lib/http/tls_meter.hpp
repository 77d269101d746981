/// @file
/// Limits for the data that libcurl reads over TLS: per call, and per response.

#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace routemaster::detail {

/// Budget for the data that one call of libcurl may read over TLS, from all connections together.
///
/// In a call, libcurl and OpenSSL read TLS records until one contains data for a transfer. Without
/// a limit, a fast peer could make this call endless. When the budget is spent, reads behave as if
/// the socket were empty. The data remain in the kernel, and the next socket event continues the
/// connection.
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

/// Budget for the data that a TLS connection may receive for the responses in flight.
///
/// Each response adds its limit. When a response ends, the budget is cut to the sum of the limits
/// of the remaining responses, so that a connection does not accumulate unused budget.
///
/// Thread safety: one thread, the thread of the transfers.
class TlsMeter {
public:
    /// Weight of a read, in addition to its bytes. A record with a few bytes costs as much as a
    /// record of a thousand bytes, and needs two reads.
    static constexpr std::int64_t read_weight = 1'024;
    /// Weight of a TLS message after the handshake, such as a session ticket. Such a message takes
    /// up to 0.3 ms.
    static constexpr std::int64_t message_weight = 65'536;

    /// Whether libcurl uses the OpenSSL library of this program. With another TLS library, no meter
    /// works.
    [[nodiscard]] static bool is_available();

    /// Attaches a meter to all TLS connections that `handle` opens. `budget` must outlive the
    /// connections.
    [[nodiscard]] static CURLcode meter(CURL* handle, TurnBudget& budget);

    /// Returns the meter of the connection that `handle` uses; null without TLS.
    [[nodiscard]] static std::shared_ptr<TlsMeter> of(CURL* handle);

    class Share {
    public:
        Share(std::shared_ptr<TlsMeter> meter, std::int64_t bound);
        ~Share();
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

        [[nodiscard]] bool is_of(const std::shared_ptr<TlsMeter>& meter) const noexcept {
            return meter_ == meter;
        }
        /// Whether the connection received more than the limits of all its responses together. If
        /// so, it receives no more.
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
    std::size_t answers_ = 0;
    std::int64_t bounds_ = 0;  ///< Sum of the limits of the responses in flight.
    std::int64_t left_ = 0;
};

}  // namespace routemaster::detail
