/// @file
/// One connection to a server: commands out, replies in.

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

/// Dials, then moves bytes, never blocking, until it is lost. What is to be sent is collected, and
/// travels with as few system calls as possible.
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
    /// Why it ended; nothing as long as it has not.
    [[nodiscard]] const std::optional<Error>& lost() const noexcept { return lost_; }
    /// Ends it, unless it has ended.
    void lose(Error reason);

    void watch(PollSet& polled) const;

    /// Goes on with dialing, or else reads what has come, a bounded amount, and calls `got` with
    /// each reply.
    template <class Got>
    void work(const PollSet& polled, Instant now, Got got) {
        if (dial_) return dial(polled, now);
        if (lost_ || (!more_ && polled.ready(stream_->descriptor()) == 0)) return;
        // A reply larger than this takes several turns, in which other things happen as well.
        more_ = true;
        for (int reads = 0; reads < reads_max && more_; ++reads) {
            auto fresh = read();
            more_ = fresh.size() == buffer_.size();
            while (!fresh.empty() && !lost_) {
                // The reader moves what it has not read yet after every kilobyte that it has.
                const auto slice = fresh.substr(0, slice_size);
                fresh.remove_prefix(slice.size());
                reader_.feed(slice);
                while (auto reply = next()) got(std::move(reply));
            }
        }
    }

    /// When to call `work` at the latest.
    [[nodiscard]] Instant due() const {
        if (dial_) return dial_->due();
        return more_ && !lost_ ? Instant::min() : no_instant;
    }

    /// What is appended here is sent by the next `flush`.
    [[nodiscard]] std::string& write_buffer() noexcept { return write_buffer_; }
    /// How many bytes were appended so far.
    [[nodiscard]] std::uint64_t appended() const noexcept { return sent_ + unsent(); }
    /// How many of them the server may have got.
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    /// How many it cannot have got.
    [[nodiscard]] std::size_t unsent() const noexcept { return write_buffer_.size() - begin_; }

    /// Sends what can be sent without waiting. What goes wrong is found by the next `work`, after
    /// it has read what the server had to say before.
    void flush();

private:
    static constexpr std::size_t buffer_size = 65'536;
    static constexpr std::size_t slice_size = 16'384;
    static constexpr int reads_max = 4;
    static constexpr std::size_t kept_max = 4U << 20U;  ///< Bytes of a buffer that is not used.

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
    std::size_t begin_ = 0;  ///< How much of it was sent.
    std::uint64_t sent_ = 0;
    bool blocked_ = false;  ///< The stream took no more.
    bool more_ = false;     ///< There may be more to read than `poll` knows of.
    ReplyParser reader_;
    std::array<char, buffer_size> buffer_;
};

}  // namespace routemaster::redis
