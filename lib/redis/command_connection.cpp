#include "command_connection.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace routemaster::redis {

namespace {

/// How often the server is asked for its time. The reply also proves that the connection works.
constexpr Duration time_interval{10'000};
constexpr int redirects_max = 5;

Error in_doubt(const std::string& why) { return {Errc::timed_out, why}; }

std::chrono::microseconds::rep number(const redisReply& reply, std::size_t element) {
    return std::strtoll(std::string{text_of(reply, element)}.c_str(), nullptr, 10);
}

PendingCall no_call() { return {.call = {}, .deadline = no_instant}; }

void append_call(std::string& out, const PendingCall& pending) {
    const auto& script = *pending.call.script;
    const auto& arguments = pending.call.arguments;
    char count[24];
    const auto end = std::to_chars(count, count + sizeof count, arguments.count() + 2).ptr;
    out.append("*", 1).append(count, end);
    if (pending.with_source) {
        const auto size = std::to_string(script.source.size());
        out.append("\r\n$4\r\nEVAL\r\n$").append(size).append("\r\n").append(script.source);
    } else {
        out.append("\r\n$7\r\nEVALSHA\r\n$40\r\n").append(script.sha1);
    }
    out.append("\r\n", 2).append(arguments.encoded());
}

}  // namespace

CommandConnection::CommandConnection(const RedisAddress& address, LinkContext& context, Instant now)
    : context_{context}, connection_{address, context.dial, now}, handshake_{context.options} {}

void CommandConnection::send(PendingCall pending, Instant now) {
    if (sent_.empty()) silent_since_ = now;
    if (!pending.with_source) load(*pending.call.script);
    append_call(connection_.write_buffer(), pending);
    sent_.push_back({Sent::Kind::call, connection_.appended(), std::move(pending)});
}

void CommandConnection::load(const Script& script) {
    if (!loaded_.insert(&script).second) return;
    append_command(connection_.write_buffer(), {"SCRIPT", "LOAD", script.source});
    sent_.push_back({Sent::Kind::load, connection_.appended(), no_call()});
}

void CommandConnection::work(const PollSet& polled, Instant now) {
    if (state_ == State::lost) return;
    connection_.work(polled, now, [&](ServerReply reply) { got(std::move(reply), now); });
    if (connection_.is_open() && !greeted_) {
        greeted_ = true;
        silent_since_ = now;
        handshake_.ask(connection_.write_buffer());
    }
    if (state_ == State::ready && now >= time_due_) {
        if (sent_.empty()) silent_since_ = now;
        ask_time();
    }
    expire(now);
    if (connection_.lost()) return lose(*connection_.lost());
    if (state_ == State::draining && sent_.empty()) return lose(reason_);
    flush();
}

Instant CommandConnection::due() const {
    if (state_ == State::lost) return no_instant;
    auto at = connection_.due();
    if (is_owed()) at = std::min(at, silent_since_ + context_.options.timeout);
    if (expired_ < sent_.size()) at = std::min(at, sent_[expired_].pending.deadline);
    if (state_ == State::ready) at = std::min(at, time_due_);
    return at;
}

void CommandConnection::got(ServerReply reply, Instant now) {
    silent_since_ = now;
    if (!agreed_) return got_handshake(*reply);
    if (sent_.empty()) {
        return connection_.lose(
            {Errc::corrupted, "an unexpected reply: " + std::string{text_of(*reply)}});
    }
    Sent sent = std::move(sent_.front());
    sent_.pop_front();
    if (expired_ > 0) --expired_;
    switch (sent.kind) {
        case Sent::Kind::time: got_time(*reply, now); break;
        case Sent::Kind::load: break;
        case Sent::Kind::call:
            if (sent.pending.call.done) got_reply(std::move(sent.pending), std::move(reply));
            break;
    }
}

void CommandConnection::got_handshake(const redisReply& reply) {
    const auto outcome = handshake_.take(reply);
    if (!outcome) return;
    redirect_ = handshake_.master();
    if (!*outcome) return connection_.lose(outcome->error());
    agreed_ = true;
    context_.clock->changed();
    ask_time();
}

void CommandConnection::ask_time() {
    time_due_ = no_instant;
    append_command(connection_.write_buffer(), {"TIME"});
    sent_.push_back({Sent::Kind::time, connection_.appended(), no_call()});
    time_asked_ = ServerClock::uptime();
}

void CommandConnection::got_time(const redisReply& reply, Instant now) {
    if (reply.type == REDIS_REPLY_ERROR) {
        return connection_.lose({Errc::unavailable, std::string{text_of(reply)}});
    }
    const std::chrono::seconds seconds{number(reply, 0)};
    const ServerClock::Microseconds rest{number(reply, 1)};
    context_.clock->measured(time_asked_, ServerClock::uptime(), seconds + rest);
    time_due_ = now + context_.idle_max(time_interval);
    if (state_ == State::connecting) state_ = State::ready;
}

void CommandConnection::got_reply(PendingCall pending, ServerReply reply) {
    if (reply->type == REDIS_REPLY_ERROR) return got_error(std::move(pending), *reply);
    output_.finished.emplace_back(std::move(pending.call), std::move(reply));
}

void CommandConnection::got_error(PendingCall pending, const redisReply& reply) {
    using Kind = ErrorReply::Kind;
    auto error_reply = parse_error_reply(text_of(reply), address());
    switch (error_reply.kind) {
        case Kind::unknown_script:
            if (pending.with_source) break;
            pending.with_source = std::exchange(pending.loaded_again, true);
            loaded_.erase(pending.call.script);
            output_.retries.push_back(std::move(pending));
            return;
        case Kind::slot_moving:
            pending.with_source = false;
            output_.slot_moving = true;
            output_.retries.push_back(std::move(pending));
            return;
        case Kind::moved:
            if (pending.redirects >= redirects_max) break;
            ++pending.redirects;
            pending.with_source = false;
            redirect_ = error_reply.to;
            drain(error_reply.error);
            output_.retries.push_back(std::move(pending));
            return;
        case Kind::reconnect: drain(error_reply.error); break;
        case Kind::report:
            // A missing permission does not appear by retrying. It is logged, because only an
            // operator can grant the permission.
            if (text_of(reply).starts_with("NOPERM") && !std::exchange(permission_logged_, true)) {
                context_.log(LogLevel::error,
                             to_text(address()) + ": " + error_reply.error.context());
            }
            break;
    }
    output_.finished.emplace_back(std::move(pending.call), std::move(error_reply.error));
}

/// Reports timed-out calls, and closes a connection on which no bytes arrive.
void CommandConnection::expire(Instant now) {
    for (; expired_ < sent_.size(); ++expired_) {
        auto& [kind, end, pending] = sent_[expired_];
        if (kind != Sent::Kind::call) continue;
        if (pending.deadline > now) break;
        // The timeout also applies to calls that are not sent yet. Such a call is in doubt, because
        // its bytes cannot be removed from the write buffer and may still be sent.
        output_.finished.emplace_back(std::move(pending.call), in_doubt("no reply in time"));
    }
    if (is_owed() && now - silent_since_ >= context_.options.timeout) {
        connection_.lose({Errc::unavailable, "no reply"});
    }
}

void CommandConnection::drain(const Error& reason) {
    if (state_ != State::ready) return;
    state_ = State::draining;
    reason_ = reason;
}

void CommandConnection::lose(Error reason) {
    if (state_ != State::draining) reason_ = std::move(reason);
    state_ = State::lost;
    connection_.lose(reason_);
    for (auto& [kind, end, pending] : sent_) {
        if (kind != Sent::Kind::call || !pending.call.done) continue;
        if (end > connection_.sent()) {
            output_.retries.push_back(std::move(pending));
        } else {
            output_.finished.emplace_back(std::move(pending.call), in_doubt(reason_.context()));
        }
    }
    sent_.clear();
    expired_ = 0;
}

}  // namespace routemaster::redis
