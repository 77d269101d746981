/// @file
/// Bounds on what libcurl reads over TLS: in one call, and for one answer.

#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace routemaster::detail {

/// The weight of what libcurl may still read over TLS in the current call, from all connections.
///
/// Inside a call, libcurl and OpenSSL read records until one has data for a transfer, so a peer
/// that sends fast enough keeps them there. Without a budget they find the sockets empty. The data
/// stay in the kernel, whose next event continues the connection.
class TurnBudget {
public:
    /// For the next call.
    void refill() noexcept { left_ = turn_max; }
    void spend(std::int64_t weight) noexcept { left_ -= weight + operation_weight; }
    [[nodiscard]] bool is_spent() const noexcept { return left_ <= 0; }

private:
    static constexpr std::int64_t turn_max = 32'768;  ///< Two full records, or 16 tiny reads.
    static constexpr std::int64_t operation_weight = 1'024;

    std::int64_t left_ = turn_max;
};

/// The weight of what one TLS connection may still receive for the answers under way.
///
/// Each answer adds its bound. At its end, what is left is reduced to the bounds of the others: a
/// connection does not save up what small answers leave.
///
/// Thread safety: one thread, that of its transfers.
class TlsMeter {
public:
    /// A read counts as its bytes and this: a record of a few bytes takes as much work as one of a
    /// thousand, and two reads.
    static constexpr std::int64_t read_weight = 1'024;
    /// A message of TLS after the handshake, such as a session ticket: it takes up to 0.3 ms.
    static constexpr std::int64_t message_weight = 65'536;

    /// Whether libcurl uses the OpenSSL that this library uses. With another TLS library there are
    /// no meters.
    [[nodiscard]] static bool is_available();

    /// Meters all TLS connections that `handle` opens. `budget` must outlive them.
    [[nodiscard]] static CURLcode meter(CURL* handle, TurnBudget& budget);

    /// The meter of the connection that `handle` uses; null without TLS.
    [[nodiscard]] static std::shared_ptr<TlsMeter> of(CURL* handle);

    /// The share of one answer in what its connection may receive.
    class Share {
    public:
        Share(std::shared_ptr<TlsMeter> meter, std::int64_t bound);
        ~Share();
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

        [[nodiscard]] bool is_of(const std::shared_ptr<TlsMeter>& meter) const noexcept {
            return meter_ == meter;
        }
        /// Whether the connection received more than all its answers may take. It receives no more.
        [[nodiscard]] bool is_exceeded() const noexcept { return meter_->left_ < 0; }

    private:
        const std::shared_ptr<TlsMeter> meter_;
        const std::int64_t bound_;
    };

    explicit TlsMeter(TurnBudget& budget) noexcept : budget_{budget} {}

    /// Whether the connection may read now.
    [[nodiscard]] bool may_read() const noexcept {
        return !budget_.is_spent() && (answers_ == 0 || left_ >= 0);
    }
    void count(std::int64_t weight) noexcept {
        budget_.spend(weight);
        left_ -= weight;
    }

private:
    TurnBudget& budget_;
    std::size_t answers_ = 0;  ///< Under way.
    std::int64_t bounds_ = 0;  ///< Of them together.
    std::int64_t left_ = 0;
};

}  // namespace routemaster::detail
