#include "carrier.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace routemaster::redis {

namespace {

/// How often the server is asked for the time; it thereby shows that it is there.
constexpr Duration time_interval{10'000};
constexpr int hops_max = 5;

Error in_doubt(const std::string& why) { return {Errc::timed_out, why}; }

/// A number of a reply of TIME.
std::chrono::microseconds::rep number(const redisReply& reply, std::size_t element) {
    return std::strtoll(std::string{text_of(reply, element)}.c_str(), nullptr, 10);
}

Pending no_call() { return {.call = {}, .deadline = no_instant}; }

void append_call(std::string& out, const Pending& pending) {
    const auto& [script, arguments, done] = pending.call;
    char count[24];
    const auto end = std::to_chars(count, count + sizeof count, arguments.count() + 2).ptr;
    out.append("*", 1).append(count, end);
    if (pending.with_source) {
        const auto size = std::to_string(script->source.size());
        out.append("\r\n$4\r\nEVAL\r\n$").append(size).append("\r\n").append(script->source);
    } else {
        out.append("\r\n$7\r\nEVALSHA\r\n$40\r\n").append(script->sha1);
    }
    out.append("\r\n", 2).append(arguments.encoded());
}

}  // namespace

Carrier::Carrier(const RedisAddress& address, LinkContext& context, Manner manner, Instant now)
    : context_{context},
      manner_{manner},
      connection_{address, context.dial, now},
      handshake_{context.options, context.scripts} {}

void Carrier::send(Pending pending, Instant now) {
    if (sent_.empty()) silent_since_ = now;
    auto& out = connection_.output();
    if (manner_ == Manner::asking) {
        append_command(out, {"ASKING"});
        sent_.push_back({Sent::Kind::asking, connection_.appended(), no_call()});
    }
    append_call(out, pending);
    sent_.push_back({Sent::Kind::call, connection_.appended(), std::move(pending)});
}

void Carrier::work(const PollSet& polled, Instant now) {
    if (state_ == State::lost) return;
    connection_.work(polled, now, [&](ServerReply reply) { got(std::move(reply), now); });
    if (connection_.is_open() && !greeted_) {
        greeted_ = true;
        silent_since_ = now;
        handshake_.ask(connection_.output());
    }
    if (state_ == State::ready && now >= time_due_) {
        if (sent_.empty()) silent_since_ = now;
        ask_time();
    }
    expire(now);
    if (connection_.lost()) return lose(*connection_.lost());
    if (state_ == State::leaving && sent_.empty()) return lose(reason_);
    flush();
}

Instant Carrier::due() const {
    if (state_ == State::lost) return no_instant;
    auto at = connection_.due();
    if (is_owed()) at = std::min(at, silent_since_ + context_.options.timeout);
    if (expired_ < sent_.size()) at = std::min(at, sent_[expired_].pending.deadline);
    if (state_ == State::ready) at = std::min(at, time_due_);
    return at;
}

void Carrier::got(ServerReply reply, Instant now) {
    silent_since_ = now;
    if (!agreed_) return got_handshake(*reply);
    if (sent_.empty()) {
        return connection_.lose(
            {Errc::corrupted, "an answer to nothing: " + std::string{text_of(*reply)}});
    }
    Sent sent = std::move(sent_.front());
    sent_.pop_front();
    if (expired_ > 0) --expired_;
    switch (sent.kind) {
        case Sent::Kind::asking: break;  // A refusal is followed by one of the call.
        case Sent::Kind::time: got_time(*reply, now); break;
        case Sent::Kind::call:
            if (sent.pending.call.done) got_answer(std::move(sent.pending), std::move(reply));
            break;
    }
}

void Carrier::got_handshake(const redisReply& reply) {
    const auto outcome = handshake_.take(reply);
    if (!outcome) return;
    elsewhere_ = handshake_.master();
    if (!*outcome) return connection_.lose(outcome->error());
    agreed_ = true;
    // Who is only asked in passing does not tell the time.
    if (manner_ == Manner::plain) context_.clock->changed();
    ask_time();
}

void Carrier::ask_time() {
    time_due_ = no_instant;
    append_command(connection_.output(), {"TIME"});
    sent_.push_back({Sent::Kind::time, connection_.appended(), no_call()});
    time_asked_ = ServerClock::uptime();
}

void Carrier::got_time(const redisReply& reply, Instant now) {
    if (reply.type == REDIS_REPLY_ERROR) {
        return connection_.lose({Errc::unavailable, std::string{text_of(reply)}});
    }
    const std::chrono::seconds seconds{number(reply, 0)};
    const ServerClock::Microseconds rest{number(reply, 1)};
    if (manner_ == Manner::plain)
        context_.clock->measured(time_asked_, ServerClock::uptime(), seconds + rest);
    time_due_ = now + context_.idle_max(time_interval);
    if (state_ == State::connecting) state_ = State::ready;
}

void Carrier::got_answer(Pending pending, ServerReply reply) {
    if (reply->type == REDIS_REPLY_ERROR) return refused(std::move(pending), *reply);
    yield_.answers.push_back({std::move(pending.call.done), std::move(reply)});
}

void Carrier::refused(Pending pending, const redisReply& reply) {
    using Kind = Refusal::Kind;
    auto refusal = read_refusal(text_of(reply), address());
    switch (refusal.kind) {
        case Kind::unknown_script:
            if (pending.with_source) break;
            pending.with_source = true;
            yield_.again.push_back(std::move(pending));
            return;
        case Kind::moved:
        case Kind::ask:
            if (pending.hops >= hops_max) break;
            ++pending.hops;
            pending.with_source = refusal.kind == Kind::ask;
            if (refusal.kind == Kind::ask) {
                yield_.asked.emplace_back(refusal.to, std::move(pending));
            } else {
                elsewhere_ = refusal.to;
                leave(refusal.error);
                yield_.again.push_back(std::move(pending));
            }
            return;
        case Kind::look_again: leave(refusal.error); break;
        case Kind::tell:
            // This one does not pass by itself, and whoever can mend it reads the log.
            if (text_of(reply).starts_with("NOPERM") && !std::exchange(complained_, true)) {
                context_.log(LogLevel::error, to_text(address()) + ": " + refusal.error.context());
            }
            break;
    }
    yield_.answers.push_back({std::move(pending.call.done), std::move(refusal.error)});
}

/// Tells those whose time is over, and ends a connection at which nothing happens.
void Carrier::expire(Instant now) {
    for (; expired_ < sent_.size(); ++expired_) {
        auto& [kind, end, pending] = sent_[expired_];
        if (kind != Sent::Kind::call) continue;
        if (pending.deadline > now) break;
        // Also when it was not sent yet: nothing calls back what is in the output.
        yield_.answers.push_back(
            {std::exchange(pending.call.done, nullptr), in_doubt("no answer in time")});
    }
    if (is_owed() && now - silent_since_ >= context_.options.timeout) {
        connection_.lose({Errc::unavailable, "no answer"});
    }
}

void Carrier::leave(const Error& reason) {
    if (state_ != State::ready) return;
    state_ = State::leaving;
    reason_ = reason;
}

void Carrier::lose(Error reason) {
    if (state_ != State::leaving) reason_ = std::move(reason);
    state_ = State::lost;
    connection_.lose(reason_);
    for (auto& [kind, end, pending] : sent_) {
        if (kind != Sent::Kind::call || !pending.call.done) continue;
        if (end > connection_.sent()) {
            yield_.again.push_back(std::move(pending));
        } else {
            yield_.answers.push_back({std::move(pending.call.done), in_doubt(reason_.context())});
        }
    }
    sent_.clear();
    expired_ = 0;
}

}  // namespace routemaster::redis
