/// @file
/// A connection that sends commands and receives their replies.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "call.hpp"
#include "connection.hpp"
#include "error_reply.hpp"
#include "handshake.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "poll_set.hpp"
#include "server_clock.hpp"

namespace routemaster::redis {

/// A call that waits for its reply.
struct PendingCall {
    Call call;
    std::uint64_t number = 0;  ///< In the order of `Link::send`.
    Instant deadline;
    bool loaded_again = false;   ///< The server did not know the script.
    bool with_source = false;    ///< Nor did it after that.
    std::uint8_t redirects = 0;  ///< How often a server redirected it.
};

/// A call whose result is known and not yet reported.
struct FinishedCall {
    FinishedCall(Call&& call, CallResult outcome)
        : done{std::exchange(call.done, nullptr)},
          result{std::move(outcome)},
          joined{call.joined} {}

    std::function<void(CallResult)> done;
    CallResult result;
    std::size_t joined;  ///< How many calls it stands for.
};

/// Sends calls to one server and matches replies with them. It calls nobody back: it leaves results
/// and calls to be retried in `Output`.
///
/// It loads a script into the server right before the first call of it, as most programs use few of
/// the scripts. Nobody waits for the reply: when the script cannot be loaded, the call says why.
///
///     connecting ──► ready ──► draining ──► lost
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class CommandConnection {
public:
    enum class State {
        connecting,  ///< Dialing, handshaking, or measuring the clock.
        ready,       ///< Accepts calls.
        draining,    ///< Accepts no more, and waits for the replies to those it accepted.
        lost,        ///< Has ended.
    };

    /// Results of calls since it was last emptied.
    struct Output {
        std::vector<FinishedCall> finished;
        std::deque<PendingCall> retries;  ///< To be sent again, before all others.
        bool slot_moving = false;         ///< Some of them because their slot is being moved.
    };

    CommandConnection(const RedisAddress& address, LinkContext& context, Instant now);

    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] const RedisAddress& address() const noexcept { return connection_.address(); }
    /// Why it is draining or lost.
    [[nodiscard]] const Error& reason() const noexcept { return reason_; }
    /// Where to connect instead: the server that owns the slot now, or the master of this replica.
    [[nodiscard]] const std::optional<RedisAddress>& redirect() const noexcept { return redirect_; }

    /// Whether it can take a call now.
    [[nodiscard]] bool is_open() const noexcept {
        return state_ == State::ready && connection_.unsent() < unsent_max;
    }
    /// Whether no replies are outstanding.
    [[nodiscard]] bool is_idle() const noexcept { return sent_.empty(); }

    /// Accepts a call; `flush` sends it.
    void send(PendingCall pending, Instant now);
    void flush() { connection_.flush(); }

    void watch(PollSet& polled) const { connection_.watch(polled); }
    /// Continues as far as possible without waiting.
    void work(const PollSet& polled, Instant now);
    /// When to call `work` at the latest.
    [[nodiscard]] Instant due() const;

    /// Accepts no more calls, and ends when those it accepted have their replies.
    void drain(const Error& reason);
    /// Ends it: calls that the server may have received are in doubt, the rest are to be sent
    /// again.
    void lose(Error reason);

    [[nodiscard]] Output& output() noexcept { return output_; }

private:
    /// A request whose reply is outstanding.
    struct Sent {
        enum class Kind : std::uint8_t { call, load, time };
        Kind kind;
        std::uint64_t end;    ///< Of its bytes in the write buffer.
        PendingCall pending;  ///< For a call. Its `done` is empty once it timed out.
    };

    void load(const Script& script);
    void got(ServerReply reply, Instant now);
    void got_handshake(const redisReply& reply);
    void got_time(const redisReply& reply, Instant now);
    void got_reply(PendingCall pending, ServerReply reply);
    void got_error(PendingCall pending, const redisReply& reply);
    void ask_time();
    void expire(Instant now);
    [[nodiscard]] bool is_owed() const noexcept { return !sent_.empty() || (greeted_ && !agreed_); }

    static constexpr std::size_t unsent_max = 1U << 20U;  ///< Bytes; further calls wait unencoded.

    LinkContext& context_;
    Connection connection_;
    Handshake handshake_;
    State state_ = State::connecting;
    bool greeted_ = false;  ///< The handshake was sent.
    bool agreed_ = false;   ///< The server replied to it.
    Error reason_{Errc::unavailable, "not connected yet"};
    std::optional<RedisAddress> redirect_;
    std::unordered_set<const Script*> loaded_;
    bool permission_logged_ = false;  ///< That a permission is missing.
    std::deque<Sent> sent_;
    std::size_t expired_ = 0;            ///< Calls at the front that were reported as timed out.
    Instant silent_since_ = no_instant;  ///< Since when a reply is outstanding and nothing arrived.
    Instant time_due_ = no_instant;      ///< When to send TIME.
    ServerClock::Microseconds time_asked_{};
    Output output_;
};

}  // namespace routemaster::redis
