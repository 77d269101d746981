/// @file
/// One connection to a server: sends commands and receives replies.

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

/// Dials, then sends and receives bytes without blocking, until the connection is lost. Sends
/// collected bytes with as few system calls as possible.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Connection {
public:
    Connection(RedisAddress address, const DialOptions& options, Instant now)
        : address_{std::move(address)}, dial_{std::in_place, address_, options, now} {}

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] const RedisAddress& address() const noexcept { return address_; }
    [[nodiscard]] bool is_open() const noexcept { return stream_ != nullptr && !lost_; }
    /// Why the connection was lost; empty before.
    [[nodiscard]] const std::optional<Error>& lost() const noexcept { return lost_; }
    /// Ends the connection. Does nothing when the connection is lost already.
    void lose(Error reason);

    void watch(PollSet& polled) const;

    /// Continues dialing, or reads a bounded amount of data and calls `got` with each reply.
    template <class Got>
    void work(const PollSet& polled, Instant now, Got got) {
        if (dial_) return dial(polled, now);
        if (lost_ || (!more_ && polled.ready(stream_->descriptor()) == 0)) return;
        // A reply larger than this takes several iterations, with further work in between.
        more_ = true;
        for (int reads = 0; reads < reads_max && more_; ++reads) {
            auto fresh = read();
            more_ = fresh.size() == buffer_.size();
            while (!fresh.empty() && !lost_) {
                // The reader moves its unread bytes after each kilobyte read, so its chunks are
                // small.
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

    /// The buffer for bytes to send. The next `flush` sends them.
    [[nodiscard]] std::string& write_buffer() noexcept { return write_buffer_; }
    [[nodiscard]] std::uint64_t appended() const noexcept { return sent_ + unsent(); }
    /// The number of bytes sent, which the server may have received.
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    [[nodiscard]] std::size_t unsent() const noexcept { return write_buffer_.size() - begin_; }

    /// Sends bytes without waiting. The next `work` reports errors, after reading all data sent
    /// before by the server.
    void flush();

private:
    static constexpr std::size_t buffer_size = 65'536;
    static constexpr std::size_t slice_size = 16'384;
    static constexpr int reads_max = 4;
    static constexpr std::size_t kept_max = 4U << 20U;  ///< The bytes that an unused buffer keeps.

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
    std::size_t begin_ = 0;  ///< The number of bytes in `write_buffer_` already sent.
    std::uint64_t sent_ = 0;
    bool blocked_ = false;  ///< The stream accepted no more.
    bool more_ = false;     ///< There may be more to read than `poll` reports.
    ReplyParser reader_;
    std::array<char, buffer_size> buffer_;
};

}  // namespace routemaster::redis
