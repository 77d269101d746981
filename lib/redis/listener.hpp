/// @file
/// `Listener`: a connection that subscribes to channels.

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

struct Channel {
    std::string name;
    /// Called with each message. When listening begins, it is called with an empty text, because
    /// earlier messages may have been missed.
    std::function<void(std::string_view)> heard;
    /// Further channels to subscribe to, or null. They must outlive the listener.
    WakeChannels* further = nullptr;
};

/// Subscriber of a channel, and of a changing set of further channels. Passes on messages until the
/// connection is lost. Pings the server at intervals, because a dead server is as silent as an idle
/// server.
///
/// Thread safety: one thread, with SIGPIPE blocked.
class Listener {
public:
    /// `context` and `channel` must outlive the listener.
    Listener(const RedisAddress& address, const LinkContext& context, const Channel& channel,
             Handshake::Peer peer, Instant now);

    [[nodiscard]] bool is_listening() const noexcept { return stage_ == Stage::listening; }
    [[nodiscard]] const RedisAddress& address() const noexcept { return connection_.address(); }
    [[nodiscard]] const std::optional<Error>& lost() const noexcept { return connection_.lost(); }

    void watch(PollSet& polled) const { connection_.watch(polled); }
    void work(const PollSet& polled, Instant now);
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
    Instant heard_at_;    ///< When the server last sent anything.
    Instant asked_at_{};  ///< When the last request was sent.
    bool owed_ = false;   ///< A reply is outstanding.
    std::set<std::string> further_;
    std::uint64_t version_ = 0;
};

}  // namespace routemaster::redis
