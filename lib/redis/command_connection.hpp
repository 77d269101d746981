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

struct PendingCall {
    Call call;
    std::uint64_t number = 0;  ///< In the order of `Link::send`.
    Instant deadline;
    bool loaded_again = false;   ///< The server did not know the script.
    bool with_source = false;    ///< The server did not know it after loading either.
    std::uint8_t redirects = 0;  ///< How often a server redirected the call.
};

/// A call whose result is known and not yet reported.
struct FinishedCall {
    FinishedCall(Call&& call, CallResult outcome)
        : done{std::exchange(call.done, nullptr)},
          result{std::move(outcome)},
          joined{call.joined} {}

    std::function<void(CallResult)> done;
    CallResult result;
    std::size_t joined;  ///< The number of calls joined in this one.
};

/// Sends calls to one server and matches replies with calls. Makes no callbacks: results and calls
/// to be retried are left in `Output`.
///
/// Loads a script into the server directly before the first call of the script, as most programs
/// use few scripts. The reply to the load is ignored: when the script cannot be loaded, the call
/// reports the error.
///
///     connecting ──► ready ──► draining ──► lost
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class CommandConnection {
public:
    enum class State {
        connecting,  ///< Dialing, handshaking, or measuring the clock.
        ready,       ///< Accepts calls.
        draining,    ///< Accepts no more calls, and waits for outstanding replies.
        lost,
    };

    /// The results since the output was last emptied.
    struct Output {
        std::vector<FinishedCall> finished;
        std::deque<PendingCall> retries;  ///< Calls to be sent again, before all other calls.
        bool slot_moving = false;         ///< Some retries wait because their slot is being moved.
    };

    CommandConnection(const RedisAddress& address, LinkContext& context, Instant now);

    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] const RedisAddress& address() const noexcept { return connection_.address(); }
    /// Why the connection is draining or lost.
    [[nodiscard]] const Error& reason() const noexcept { return reason_; }
    /// The server to connect to instead: the present owner of the slot, or the master of this
    /// replica.
    [[nodiscard]] const std::optional<RedisAddress>& redirect() const noexcept { return redirect_; }

    /// Whether the connection accepts a call now.
    [[nodiscard]] bool is_open() const noexcept {
        return state_ == State::ready && connection_.unsent() < unsent_max;
    }
    [[nodiscard]] bool is_idle() const noexcept { return sent_.empty(); }

    /// Accepts a call; `flush` sends the call.
    void send(PendingCall pending, Instant now);
    void flush() { connection_.flush(); }

    void watch(PollSet& polled) const { connection_.watch(polled); }
    void work(const PollSet& polled, Instant now);
    [[nodiscard]] Instant due() const;

    /// Accepts no more calls, and ends after all outstanding replies have arrived.
    void drain(const Error& reason);
    /// Ends the connection. Calls that the server may have received are in doubt; the rest are to
    /// be sent again.
    void lose(Error reason);

    [[nodiscard]] Output& output() noexcept { return output_; }

private:
    /// A request whose reply is outstanding.
    struct Sent {
        enum class Kind : std::uint8_t { call, load, time };
        Kind kind;
        std::uint64_t end;    ///< Where its bytes end, counted as in `Connection::appended`.
        PendingCall pending;  ///< For a call. Its `done` is empty once the call timed out.
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

    static constexpr std::size_t unsent_max = 1U << 20U;  ///< In bytes. Further calls wait
                                                          ///< unencoded.

    LinkContext& context_;
    Connection connection_;
    Handshake handshake_;
    State state_ = State::connecting;
    bool greeted_ = false;  ///< The handshake was sent.
    bool agreed_ = false;   ///< The handshake is complete.
    Error reason_{Errc::unavailable, "not connected yet"};
    std::optional<RedisAddress> redirect_;
    std::unordered_set<const Script*> loaded_;
    bool permission_logged_ = false;
    std::deque<Sent> sent_;
    std::size_t expired_ = 0;            ///< Calls at the front that were reported as timed out.
    Instant silent_since_ = no_instant;  ///< Since when a reply is outstanding and nothing arrived.
    Instant time_due_ = no_instant;      ///< When to send TIME.
    ServerClock::Microseconds time_asked_{};
    Output output_;
};

}  // namespace routemaster::redis
