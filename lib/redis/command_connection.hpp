/// @file
/// `CommandConnection`: sends commands to a server and receives their replies.

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
    std::uint64_t number = 0;  ///< Sequence number, in the order of `Link::send`.
    Instant deadline;
    /// The server did not know the script, so the script was loaded again.
    bool loaded_again = false;
    /// The server did not know the script even after it was loaded, so the source is sent with the
    /// call.
    bool with_source = false;
    std::uint8_t redirects = 0;
};

struct FinishedCall {
    FinishedCall(Call&& call, CallResult outcome)
        : done{std::exchange(call.done, nullptr)},
          result{std::move(outcome)},
          joined{call.joined} {}

    std::function<void(CallResult)> done;
    CallResult result;
    std::size_t joined;
};

/// Connection to a server that sends calls and assigns replies to calls. It makes no callbacks.
/// Results, and calls that must be sent again, are left in `Output`.
///
/// A script is loaded into the server immediately before its first call, because most programs use
/// few scripts. The reply to the load is ignored: if the script cannot be loaded, the call reports
/// the error.
///
///     connecting ──► ready ──► draining ──► lost
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class CommandConnection {
public:
    enum class State {
        connecting,  ///< Dialing, authenticating, or measuring the server's clock.
        ready,
        draining,  ///< Accepts no further calls, and waits for outstanding replies.
        lost,
    };

    /// What the link must process next.
    struct Output {
        std::vector<FinishedCall> finished;
        std::deque<PendingCall> retries;  ///< Calls to be sent again, before all new calls.
        bool slot_moving = false;         ///< Retries wait for a migrating cluster slot.
    };

    CommandConnection(const RedisAddress& address, LinkContext& context, Instant now);

    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] const RedisAddress& address() const noexcept { return connection_.address(); }
    /// The error because of which the connection is draining or lost.
    [[nodiscard]] const Error& reason() const noexcept { return reason_; }
    /// The server to connect to instead: the new owner of the cluster slot, or the master of this
    /// replica.
    [[nodiscard]] const std::optional<RedisAddress>& redirect() const noexcept { return redirect_; }

    /// Whether the connection accepts a call now. It does not while too many bytes are unsent.
    [[nodiscard]] bool is_open() const noexcept {
        return state_ == State::ready && connection_.unsent() < unsent_max;
    }
    [[nodiscard]] bool is_idle() const noexcept { return sent_.empty(); }

    void send(PendingCall pending, Instant now);
    void flush() { connection_.flush(); }

    void watch(PollSet& polled) const { connection_.watch(polled); }
    void work(const PollSet& polled, Instant now);
    [[nodiscard]] Instant due() const;

    /// Accepts no further calls, and closes the connection after all outstanding replies have
    /// arrived.
    void drain(const Error& reason);
    /// Closes the connection. Calls that the server may have received are in doubt; the other calls
    /// must be sent again.
    void lose(Error reason);

    [[nodiscard]] Output& output() noexcept { return output_; }

private:
    /// A request whose reply has not arrived yet.
    struct Sent {
        enum class Kind : std::uint8_t { call, load, time };
        Kind kind;
        std::uint64_t end;    ///< Offset of its end in the stream; see `Connection::appended`.
        PendingCall pending;  ///< For a call. `done` is empty once the timeout was reported.
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

    /// While more bytes than this are unsent, no calls are encoded.
    static constexpr std::size_t unsent_max = 1U << 20U;

    LinkContext& context_;
    Connection connection_;
    Handshake handshake_;
    State state_ = State::connecting;
    bool greeted_ = false;
    bool agreed_ = false;
    Error reason_{Errc::unavailable, "not connected yet"};
    std::optional<RedisAddress> redirect_;
    std::unordered_set<const Script*> loaded_;
    bool permission_logged_ = false;
    std::deque<Sent> sent_;
    std::size_t expired_ = 0;            ///< Calls at the front with a reported timeout.
    Instant silent_since_ = no_instant;  ///< Since when a reply is overdue, without a byte.
    Instant time_due_ = no_instant;      ///< When to send the next TIME.
    ServerClock::Microseconds time_asked_{};
    Output output_;
};

}  // namespace routemaster::redis
