#include "listener.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "wire.hpp"

namespace routemaster::redis {

namespace {

/// How long the server may be silent before it receives a PING.
constexpr Duration quiet_max{15'000};

}  // namespace

Listener::Listener(const RedisAddress& address, const LinkContext& context, const Channel& channel,
                   Handshake::Peer peer, Instant now)
    : context_{context},
      channel_{channel},
      connection_{address, context.dial, now},
      handshake_{context.options, peer},
      heard_at_{now} {
    if (channel_.further != nullptr) channel_.further->opening();
}

void Listener::work(const PollSet& polled, Instant now) {
    connection_.work(polled, now, [&](const ServerReply& reply) {
        heard_at_ = now;
        owed_ = false;
        got(*reply);
    });
    if (!connection_.is_open()) return;
    if (stage_ == Stage::dialing) greet();
    if (stage_ == Stage::listening && channel_.further != nullptr) follow_further(now);
    if (stage_ != Stage::listening && !owed_) {
        owed_ = true;
        asked_at_ = now;
    }
    if (stage_ == Stage::listening && !owed_ && now - heard_at_ >= context_.idle_max(quiet_max)) {
        append_command(connection_.write_buffer(), {"PING"});
        owed_ = true;
        asked_at_ = now;
    }
    if (owed_ && now - asked_at_ >= context_.options.timeout) {
        return connection_.lose({Errc::unavailable, "no reply"});
    }
    connection_.flush();
}

Instant Listener::due() const {
    if (!connection_.is_open()) return connection_.due();
    const auto at =
        owed_ ? asked_at_ + context_.options.timeout : heard_at_ + context_.idle_max(quiet_max);
    return std::min(connection_.due(), at);
}

void Listener::greet() {
    stage_ = Stage::greeting;
    if (!handshake_.is_needed()) return subscribe();
    handshake_.ask(connection_.write_buffer());
}

void Listener::subscribe() {
    stage_ = Stage::subscribing;
    append_command(connection_.write_buffer(), {"SUBSCRIBE", channel_.name});
}

void Listener::follow_further(Instant now) {
    const auto version = channel_.further->version();
    if (version == version_) return;
    version_ = version;
    auto wanted = channel_.further->wanted();
    auto& out = connection_.write_buffer();
    bool asks = false;
    for (const auto& channel : wanted) {
        if (further_.contains(channel)) {
            // The channel may have been removed and added again in the meantime. The existing
            // subscription counts as active.
            channel_.further->begun(channel);
            continue;
        }
        append_command(out, {"SUBSCRIBE", channel});
        asks = true;
    }
    for (const auto& channel : further_) {
        if (wanted.contains(channel)) continue;
        append_command(out, {"UNSUBSCRIBE", channel});
        asks = true;
    }
    further_ = std::move(wanted);
    if (!asks) return;
    if (!owed_) asked_at_ = now;
    owed_ = true;
}

void Listener::got_further(std::string_view kind, std::string_view channel) {
    if (channel_.further == nullptr) return;
    const std::string name{channel};
    if (kind == "message") channel_.further->heard(name);
    if (kind == "subscribe") channel_.further->begun(name);
}

void Listener::got(const redisReply& reply) {
    if (stage_ == Stage::greeting) {
        const auto outcome = handshake_.take(reply);
        if (!outcome) return;
        if (!*outcome) return connection_.lose(outcome->error());
        return subscribe();
    }
    if (reply.type == REDIS_REPLY_ERROR) {
        return connection_.lose({Errc::unavailable, std::string{text_of(reply)}});
    }
    const auto kind = text_of(reply, 0);
    const auto channel = text_of(reply, 1);
    if (channel != channel_.name) return got_further(kind, channel);
    if (kind == "message") return channel_.heard(text_of(reply, 2));
    if (kind == "subscribe" && stage_ == Stage::subscribing) {
        stage_ = Stage::listening;
        channel_.heard({});
    }
}

}  // namespace routemaster::redis
