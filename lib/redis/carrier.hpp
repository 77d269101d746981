/// @file
/// A connection that carries calls.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.hpp"
#include "connection.hpp"
#include "handshake.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "poll_set.hpp"
#include "refusal.hpp"
#include "server_clock.hpp"

namespace routemaster::redis {

/// A call on its way to its answer.
struct Pending {
    Call call;
    Instant deadline;
    bool with_source = false;  ///< The server did not know the script.
    std::uint8_t hops = 0;     ///< How often it was sent on to another server.
};

/// An answer that is to be told.
struct Answered {
    std::function<void(Answer)> done;
    Answer answer;
};

/// Sends calls to one server and sorts what comes back. Nothing is called back from inside: what
/// has to happen elsewhere is left in `Yield`.
///
///     connecting ──► ready ──► leaving ──► lost
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Carrier {
public:
    enum class State {
        connecting,  ///< Dialing, shaking hands, or measuring the clock.
        ready,       ///< Takes calls.
        leaving,     ///< Takes no more, and waits for the answers to those it took.
        lost,        ///< Has ended.
    };

    /// What the calls came to since it was last emptied.
    struct Yield {
        std::vector<Answered> answers;
        std::deque<Pending> again;  ///< To be sent again, before all others.
        std::vector<std::pair<RedisAddress, Pending>> asked;  ///< To be sent once, to there.
    };

    /// How calls are sent.
    enum class Manner {
        plain,
        asking,  ///< To a server that will only then serve what is being moved to it.
    };

    Carrier(const RedisAddress& address, LinkContext& context, Manner manner, Instant now);

    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] const RedisAddress& address() const noexcept { return connection_.address(); }
    /// Why it is leaving or lost.
    [[nodiscard]] const Error& reason() const noexcept { return reason_; }
    /// Where to go instead: the server that a call was moved to, or the master of this replica.
    [[nodiscard]] const std::optional<RedisAddress>& elsewhere() const noexcept {
        return elsewhere_;
    }

    /// Whether it can take a call now.
    [[nodiscard]] bool is_open() const noexcept {
        return state_ == State::ready && connection_.unsent() < backlog_max;
    }
    /// Whether no answers are owed.
    [[nodiscard]] bool is_idle() const noexcept { return sent_.empty(); }

    /// Takes a call; `flush` sends it.
    void send(Pending pending, Instant now);
    void flush() { connection_.flush(); }

    void watch(PollSet& polled) const { connection_.watch(polled); }
    /// Goes on as far as possible without waiting.
    void work(const PollSet& polled, Instant now);
    /// When to go on at the latest.
    [[nodiscard]] Instant due() const;

    /// Takes no more calls, and ends when those that were taken are answered.
    void leave(const Error& reason);
    /// Ends it: what the server may have got is in doubt, the rest is to be sent again.
    void lose(Error reason);

    [[nodiscard]] Yield& yield() noexcept { return yield_; }

private:
    /// What the server owes the next reply for.
    struct Sent {
        enum class Kind : std::uint8_t { call, asking, time };
        Kind kind;
        std::uint64_t end;  ///< Of its bytes in the output.
        Pending pending;    ///< Of a call. Its `done` is empty once its time was over.
    };

    void begin();
    void got(ServerReply reply, Instant now);
    void got_handshake(const redisReply& reply);
    void got_time(const redisReply& reply, Instant now);
    void got_answer(Pending pending, ServerReply reply);
    void refused(Pending pending, const redisReply& reply);
    void ask_time();
    void expire(Instant now);
    [[nodiscard]] bool is_owed() const noexcept { return !sent_.empty() || (greeted_ && !agreed_); }

    static constexpr std::size_t backlog_max = 1U << 20U;  ///< Bytes; further calls wait unencoded.

    LinkContext& context_;
    Manner manner_;
    Connection connection_;
    Handshake handshake_;
    State state_ = State::connecting;
    bool greeted_ = false;  ///< The handshake was sent.
    bool agreed_ = false;   ///< It was answered.
    Error reason_{Errc::unavailable, "not connected yet"};
    std::optional<RedisAddress> elsewhere_;
    bool complained_ = false;  ///< About a right that is missing.
    std::deque<Sent> sent_;
    std::size_t expired_ = 0;  ///< So many at the front were told that their time was over.
    Instant silent_since_ = no_instant;  ///< From when on an answer was owed and nothing came.
    Instant time_due_ = no_instant;      ///< When to ask for the time.
    ServerClock::Microseconds time_asked_{};
    Yield yield_;
};

}  // namespace routemaster::redis
