/// @file
/// A connection that listens to channels.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "connection.hpp"
#include "handshake.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "poll_set.hpp"
#include "wake_channels.hpp"

namespace routemaster::redis {

/// The channel to listen to.
struct Channel {
    std::string name;
    /// Called with each message, and with an empty text when listening begins, because earlier
    /// messages may have been missed.
    std::function<void(std::string_view)> heard;
    /// Others to listen to, if there are any; must outlive the listener.
    WakeChannels* further = nullptr;
};

/// Subscribes to a channel, and to those that come and go beside it, and passes their messages on,
/// until it is lost. It pings the server now and then, since a dead server is as silent as an idle
/// one.
///
/// Thread safety: one thread, which must have SIGPIPE blocked.
class Listener {
public:
    /// `context` and `channel` must outlive it.
    Listener(const RedisAddress& address, const LinkContext& context, const Channel& channel,
             Handshake::Peer peer, Instant now);

    [[nodiscard]] bool is_listening() const noexcept { return stage_ == Stage::listening; }
    [[nodiscard]] const RedisAddress& address() const noexcept { return connection_.address(); }
    /// Why it ended; nothing until it has.
    [[nodiscard]] const std::optional<Error>& lost() const noexcept { return connection_.lost(); }

    void watch(PollSet& polled) const { connection_.watch(polled); }
    /// Continues as far as possible without waiting; calls `heard`.
    void work(const PollSet& polled, Instant now);
    /// When to call `work` at the latest.
    [[nodiscard]] Instant due() const;

private:
    enum class Stage : std::uint8_t { dialing, greeting, subscribing, listening };

    void greet();
    void subscribe();
    void follow_further(Instant now);
    void got(const redisReply& reply);
    void got_further(std::string_view kind, std::string_view channel);

    const LinkContext& context_;
    const Channel& channel_;
    Connection connection_;
    Handshake handshake_;
    Stage stage_ = Stage::dialing;
    Instant heard_at_;               ///< When the server last sent anything.
    Instant asked_at_{};             ///< When it last got a request.
    bool owed_ = false;              ///< A reply is outstanding.
    std::set<std::string> further_;  ///< Those of the further channels that it subscribed to.
    std::uint64_t version_ = 0;      ///< Of those.
};

}  // namespace routemaster::redis
