#include "connection.hpp"

#include <algorithm>
#include <utility>

namespace routemaster::redis {

void Connection::lose(Error reason) {
    if (lost_) return;
    lost_ = std::move(reason);
    dial_.reset();
    stream_.reset();
}

void Connection::watch(PollSet& polled) const {
    if (dial_) return dial_->watch(polled);
    if (!lost_) polled.add(stream_->descriptor(), stream_->poll_events(blocked_));
}

void Connection::dial(const PollSet& polled, Instant now) {
    auto outcome = dial_->work(polled, now);
    if (!outcome) return;
    if (!*outcome) return lose(outcome->error());
    stream_ = **std::move(outcome);
    dial_.reset();
}

std::string_view Connection::read() {
    blocked_ = false;
    const auto size = stream_->read(buffer_);
    if (!size) {
        const char* const cut = reader_.is_in_the_middle() ? " in the middle of a reply" : "";
        lose({size.error().code(), size.error().context() + cut});
        return {};
    }
    if (*size == 0 && write_failure_) lose(*write_failure_);
    return {buffer_.data(), *size};
}

ServerReply Connection::next() {
    if (lost_) return nullptr;
    auto reply = reader_.next();
    if (reply) return *std::move(reply);
    lose(reply.error());
    return nullptr;
}

void Connection::flush() {
    if (!is_open() || blocked_ || write_failure_) return;
    while (unsent() > 0) {
        const auto size = stream_->write(std::string_view{write_buffer_}.substr(begin_));
        if (!size) {
            write_failure_ = size.error();
            return;
        }
        if (*size == 0) {
            blocked_ = true;
            break;
        }
        begin_ += *size;
        sent_ += *size;
    }
    forget_sent();
}

/// Removes sent bytes from the buffer. Under a steady load, the buffer is never empty and would
/// grow without bound.
void Connection::forget_sent() {
    if (unsent() > 0 && begin_ < std::max(kept_max, unsent())) return;
    write_buffer_.erase(0, begin_);
    begin_ = 0;
    if (write_buffer_.empty() && write_buffer_.capacity() > kept_max) write_buffer_ = {};
}

}  // namespace routemaster::redis
