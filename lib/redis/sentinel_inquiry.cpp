#include "sentinel_inquiry.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "unavailable.hpp"
#include "wire.hpp"

namespace routemaster::redis {

namespace {

/// A short timeout. Sentinels have little work, so a slow sentinel is probably broken.
constexpr Duration timeout_max{2'000};

}  // namespace

SentinelInquiry::SentinelInquiry(const RedisAddress& sentinel, const LinkContext& context,
                                 Instant now)
    : context_{context},
      connection_{sentinel, context.dial, now},
      handshake_{context.options, Handshake::Peer::sentinel},
      agreed_{!handshake_.is_needed()} {}

std::optional<Result<RedisAddress>> SentinelInquiry::work(const PollSet& polled, Instant now) {
    connection_.work(polled, now, [&](const ServerReply& reply) {
        if (!outcome_) got(*reply);
    });
    if (outcome_) return outcome_;
    if (connection_.lost()) return *connection_.lost();
    if (connection_.is_open() && deadline_ == no_instant) ask(now);
    if (now >= deadline_) return unavailable("no reply");
    connection_.flush();
    return std::nullopt;
}

Instant SentinelInquiry::due() const { return std::min(deadline_, connection_.due()); }

void SentinelInquiry::ask(Instant now) {
    deadline_ = now + std::min(context_.options.timeout, timeout_max);
    handshake_.ask(connection_.write_buffer());
    append_command(connection_.write_buffer(),
                   {"SENTINEL", "get-master-addr-by-name", context_.options.sentinel_master});
}

void SentinelInquiry::got(const redisReply& reply) {
    if (!agreed_) {
        const auto verdict = handshake_.take(reply);
        if (verdict && !*verdict) outcome_ = verdict->error();
        agreed_ = verdict.has_value();
        return;
    }
    if (reply.type == REDIS_REPLY_ERROR) {
        outcome_ = unavailable(std::string{text_of(reply)});
        return;
    }
    const auto port = text_of(reply, 1);
    RedisAddress address{.host = std::string{text_of(reply, 0)}, .port = 0};
    const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (address.host.empty() || code != std::errc{}) {
        outcome_ =
            unavailable("this sentinel knows no master '" + context_.options.sentinel_master + "'");
        return;
    }
    outcome_ = std::move(address);
}

}  // namespace routemaster::redis
