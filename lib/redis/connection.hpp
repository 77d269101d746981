/// @file
/// `Connection`: exchanges bytes with a server without blocking.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "call.hpp"
#include "dial.hpp"
#include "instant.hpp"
#include "poll_set.hpp"
#include "routemaster/store/redis.hpp"
#include "stream.hpp"
#include "wire.hpp"

namespace routemaster::redis {

/// Non-blocking connection to a server. First dials, then sends bytes and parses replies until the
/// connection is lost. Appended bytes are sent with as few system calls as possible.
///
/// Thread safety: one thread, with SIGPIPE blocked.
class Connection {
public:
    Connection(RedisAddress address, const DialOptions& options, Instant now)
        : address_{std::move(address)}, dial_{std::in_place, address_, options, now} {}

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] const RedisAddress& address() const noexcept { return address_; }
    [[nodiscard]] bool is_open() const noexcept { return stream_ != nullptr && !lost_; }
    /// Why the connection was lost. Empty while it is usable.
    [[nodiscard]] const std::optional<Error>& lost() const noexcept { return lost_; }
    void lose(Error reason);

    void watch(PollSet& polled) const;

    /// Continues to dial. Once connected, reads a limited amount of data and calls `got` with each
    /// reply.
    template <class Got>
    void work(const PollSet& polled, Instant now, Got got) {
        if (dial_) return dial(polled, now);
        if (lost_ || (!more_ && polled.ready(stream_->descriptor()) == 0)) return;
        // Reads are limited per iteration of the loop. A large reply takes several iterations, so
        // that other work can be done in between.
        more_ = true;
        for (int reads = 0; reads < reads_max && more_; ++reads) {
            auto fresh = read();
            more_ = fresh.size() == buffer_.size();
            while (!fresh.empty() && !lost_) {
                // After each parsed kilobyte, the reader moves its unread bytes. Small pieces keep
                // this cheap.
                const auto slice = fresh.substr(0, slice_size);
                fresh.remove_prefix(slice.size());
                reader_.feed(slice);
                while (auto reply = next()) got(std::move(reply));
            }
        }
    }

    [[nodiscard]] Instant due() const {
        if (dial_) return dial_->due();
        return more_ && !lost_ ? Instant::min() : no_instant;
    }

    [[nodiscard]] std::string& write_buffer() noexcept { return write_buffer_; }
    [[nodiscard]] std::uint64_t appended() const noexcept { return sent_ + unsent(); }
    /// The number of sent bytes, possibly received by the server.
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    [[nodiscard]] std::size_t unsent() const noexcept { return write_buffer_.size() - begin_; }

    /// Sends bytes without waiting. Errors are reported by the next `work`, after it has read all
    /// data that the server sent before.
    void flush();

private:
    static constexpr std::size_t buffer_size = 65'536;
    static constexpr std::size_t slice_size = 16'384;
    static constexpr int reads_max = 4;
    /// Largest capacity that an empty buffer retains.
    static constexpr std::size_t kept_max = 4U << 20U;

    void dial(const PollSet& polled, Instant now);
    [[nodiscard]] std::string_view read();
    void forget_sent();
    [[nodiscard]] ServerReply next();

    RedisAddress address_;
    std::optional<Dial> dial_;
    std::unique_ptr<Stream> stream_;
    std::optional<Error> lost_;
    std::optional<Error> write_failure_;
    std::string write_buffer_;
    std::size_t begin_ = 0;  ///< The number of bytes in `write_buffer_` that were already sent.
    std::uint64_t sent_ = 0;
    bool blocked_ = false;  ///< The stream accepted no more bytes.
    bool more_ = false;     ///< More bytes may be readable, although `poll` does not report this.
    ReplyParser reader_;
    std::array<char, buffer_size> buffer_;
};

}  // namespace routemaster::redis
