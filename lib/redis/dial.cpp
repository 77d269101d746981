#include "dial.hpp"

#include <algorithm>
#include <utility>

#include "unavailable.hpp"

namespace routemaster::redis {

namespace {

/// The timeout is short, because an unreachable host must not delay the attempt with the next host.
/// It also helps with a single host: after a restart of the machine, a new attempt succeeds sooner
/// than a retransmission by the kernel.
constexpr Duration connect_timeout{2'000};

constexpr auto no_handshake = "no reply to the TLS handshake; does the server expect TLS there?";

}  // namespace

Dial::Dial(RedisAddress address, const DialOptions& options, Instant now)
    : address_{std::move(address)},
      options_{options},
      deadline_{now + options_.timeout},
      lookup_{std::in_place, address_, options_.waker} {}

void Dial::watch(PollSet& polled) const {
    if (stream_) polled.add(stream_->descriptor(), stream_->poll_events(false));
    if (socket_) polled.add(socket_->descriptor(), POLLOUT);
}

Dial::Outcome Dial::work(const PollSet& polled, Instant now) {
    if (lookup_) {
        auto found = lookup_->result();
        if (!found) {
            if (now < deadline_) return std::nullopt;
            return unavailable("no reply to the lookup of the host name");
        }
        lookup_.reset();
        if (!*found) return found->error();
        candidates_ = **std::move(found);
        return try_next(now);
    }
    if (now >= deadline_) return give_up(stream_ ? no_handshake : "no reply", now);
    const int descriptor = stream_ ? stream_->descriptor() : socket_->descriptor();
    if (polled.ready(descriptor) == 0) return std::nullopt;
    return go_on(now);
}

Dial::Outcome Dial::try_next(Instant now) {
    while (next_ < candidates_.size()) {
        auto socket = Socket::connect(candidates_[next_++], options_.timeout);
        if (socket) {
            socket_ = *std::move(socket);
            deadline_ = now + std::min(options_.timeout, connect_timeout);
            return go_on(now);
        }
        why_ = socket.error().context();
    }
    return unavailable(why_);
}

Dial::Outcome Dial::give_up(std::string why, Instant now) {
    socket_.reset();
    stream_.reset();
    why_ = std::move(why);
    return try_next(now);
}

Dial::Outcome Dial::go_on(Instant now) {
    if (socket_) {
        const auto connected = socket_->is_connected();
        if (!connected) return give_up(connected.error().context(), now);
        if (!*connected) return std::nullopt;
        // A server without TLS reads a TLS handshake as an unfinished line and waits, so the
        // handshake times out. With half of the timeout, this reason still reaches a caller that
        // waits for the first connection.
        deadline_ = now + (options_.tls ? options_.timeout / 2 : options_.timeout);
        Socket socket = *std::exchange(socket_, std::nullopt);
        if (!options_.tls) return plain_stream(std::move(socket));
        auto stream = options_.tls->stream(std::move(socket), address_.host);
        if (!stream) return stream.error();
        stream_ = *std::move(stream);
    }
    const auto begun = stream_->begin();
    if (!begun) return give_up(begun.error().context(), now);
    if (!*begun) return std::nullopt;
    return std::move(stream_);
}

}  // namespace routemaster::redis
