#include "http_server_connection.hpp"

#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <utility>

#include "http_server_target.hpp"

namespace routemaster::detail {
namespace {

/// Limits per connection and iteration, so that a busy connection does not block others.
constexpr int steps_per_turn = 64;
constexpr std::size_t bytes_per_turn = 65'536;
/// How long a client may read nothing while memory for responses is scarce.
constexpr std::chrono::seconds scarce_patience{1};
/// To keep a connection alive, the server reads a rejected body of up to this many bytes.
constexpr std::size_t discard_max = 65'536;
/// Maximum bytes read from a client after a response with `Connection: close`.
constexpr std::size_t linger_max = 64U << 20U;
constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

/// RAII object that sets `Connection::handled_here` while the handler of a connection runs.
class HandledHere {
public:
    explicit HandledHere(const Connection& connection) noexcept {
        Connection::handled_here = &connection;
    }
    ~HandledHere() { Connection::handled_here = nullptr; }
    HandledHere(const HandledHere&) = delete;
    HandledHere& operator=(const HandledHere&) = delete;
};

}  // namespace

void Connection::notice(std::uint32_t events) noexcept {
    constexpr std::uint32_t gone = EPOLLERR | EPOLLHUP;
    if ((events & (EPOLLIN | EPOLLRDHUP | gone)) != 0) readable_ = true;
    if ((events & (EPOLLRDHUP | gone)) != 0) {
        half_closed_ = true;
        note_gone();
    }
    if ((events & gone) != 0 && state_ == State::waiting) enter(State::abandoned);
}

void Connection::note_gone() const noexcept {
    if (gone_) gone_->store(true, std::memory_order_relaxed);
}

bool Connection::proceed() {
    bool more = true;
    turn_bytes_ = 0;
    try {
        for (int i = 0; more && i < steps_per_turn && turn_bytes_ < bytes_per_turn; ++i) {
            more = step();
        }
        input_.keep();
    } catch (const std::exception& error) {
        fault(std::string{"connection closed: "} + error.what());
        close();
        more = false;
    }
    return more;
}

bool Connection::send() {
    while (state_ == State::sending && flush()) continue;
    const bool at_rest = state_ == State::sending || state_ == State::closed;
    return !at_rest && (readable_ || !input_.empty());
}

/// Performs one step. Returns false if the connection must wait for an event.
bool Connection::step() {
    switch (state_) {
        case State::fresh:
        case State::idle:
        case State::head: return read_head();
        case State::body: return read_body();
        case State::sending: return flush();
        case State::lingering: return discard();
        case State::waiting:
        case State::abandoned:
        case State::closed: return false;
    }
    return false;
}

void Connection::enter(State state) noexcept {
    state_ = state;
    moved = true;
    if (state == State::abandoned || state == State::closed) {
        note_gone();
        socket_.close();
        input_.clear();
        std::string{}.swap(content_);
        rest_ = nullptr;
        memory_ = {};
    }
}

void Connection::close() noexcept { enter(State::closed); }

/// Reads from the socket. Returns false if no bytes have arrived, or if the connection was closed.
bool Connection::receive() {
    if (!readable_) return false;
    // Copies unread bytes, because they may be in `scratch`, which `recv` overwrites.
    if (!input_.empty()) input_.keep();
    auto& scratch = service_->scratch;
    const bool within_body = state_ == State::body && !head_.head().chunked;
    const auto wanted =
        within_body ? std::min<std::uint64_t>(announced_left_, scratch.size()) : head_size_max;
    const auto got = ::recv(socket_.get(), scratch.data(), static_cast<std::size_t>(wanted), 0);
    if (got <= 0) {
        readable_ = got < 0 && errno == EINTR;
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) enter(State::closed);
        return readable_;
    }
    const auto size = static_cast<std::size_t>(got);
    // A short read means that the socket is empty, and the kernel reports later bytes by a new
    // event. But the kernel reports the end of the stream only once, so a half-closed socket must
    // be read to its end.
    if (size < wanted && !half_closed_) readable_ = false;
    input_.add({scratch.data(), size});
    turn_bytes_ += size;
    return true;
}

bool Connection::read_head() {
    if (input_.empty() && !receive()) return false;
    std::size_t consumed = 0;
    const auto progress = head_.read(input_.unread(), consumed);
    input_.consume(consumed);
    switch (progress) {
        case HeadReader::Progress::complete: begin_request(); return true;
        case HeadReader::Progress::refused:
            refuse(head_.refusal().status, head_.refusal().text);
            return true;
        case HeadReader::Progress::incomplete: break;
    }
    if (state_ != State::head) enter(State::head);
    return receive();
}

void Connection::begin_request() {
    auto& head = head_.head();
    const auto path_end = std::min(head.target.find('?'), head.target.size());
    auto path = path_of_target(std::string_view{head.target}.substr(0, path_end));
    body_left_ = head.has_body();
    if (!path) return refuse(400, "the path is not percent-encoded properly");
    if (head.content_length.value_or(0) > service_->share.options.body_max) {
        return refuse_too_large(false);
    }
    request_ = {};
    request_.method = head.method;
    request_.path = *std::move(path);
    if (path_end < head.target.size()) request_.query = head.target.substr(path_end + 1);
    request_.authorization = std::move(head.authorization);
    request_.has_authorization = head.has_authorization;
    request_.content_type = std::move(head.content_type);
    request_.idempotency_key = std::move(head.idempotency_key);
    if (!body_left_) return handle();
    announced_left_ = head.content_length.value_or(0);
    chunks_ = {};
    discarded_ = 0;
    began_ = service_->now;
    progress_ = 0;
    // A body that has arrived completely with its head needs no admission.
    switch (feed()) {
        case Feeding::complete: return handle();
        case Feeding::incomplete: return ask_for_admission();
        case Feeding::refused: return;
    }
}

void Connection::ask_for_admission() {
    const auto& admission = service_->share.admission;
    if (!admission) return begin_body();
    authorizing_ = true;
    auto body = std::move(request_.body);
    HttpRequest head = request_;
    request_.body = std::move(body);
    ask(admission, std::move(head));
}

void Connection::begin_body() {
    if (service_->stopping) return refuse(503, "the server is stopping");
    const bool expected = head_.head().expects_continue && !head_.head().old_version;
    began_ = service_->now;
    progress_ = 0;
    enter(State::body);
    // The socket buffer has space for this text, unless the client does not read at all.
    if (expected && input_.empty() &&
        ::send(socket_.get(), go_on.data(), go_on.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(go_on.size())) {
        enter(State::closed);
    }
}

bool Connection::read_body() {
    switch (feed()) {
        case Feeding::incomplete: return receive();
        case Feeding::refused: return true;
        case Feeding::complete: break;
    }
    if (discarding_) {
        end_answer();
    } else {
        handle();
    }
    return true;
}

Connection::Feeding Connection::feed() {
    if (head_.head().chunked) return feed_chunks();
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(announced_left_, input_.unread().size()));
    const auto data = input_.unread().substr(0, size);
    announced_left_ -= size;
    if (announced_left_ == 0) body_left_ = false;
    input_.consume(size);
    if (!keep(data)) return Feeding::refused;
    return body_left_ ? Feeding::incomplete : Feeding::complete;
}

Connection::Feeding Connection::feed_chunks() {
    while (true) {
        std::size_t consumed = 0;
        std::string_view data;
        const auto progress = chunks_.read(input_.unread(), consumed, data);
        if (progress == ChunkReader::Progress::refused) {
            if (discarding_) {
                end_for_good();
            } else {
                refuse(chunks_.refusal().status, chunks_.refusal().text);
            }
            return Feeding::refused;
        }
        input_.consume(consumed);
        if (progress == ChunkReader::Progress::complete) {
            body_left_ = false;
            return Feeding::complete;
        }
        if (consumed == 0) return Feeding::incomplete;
        if (!keep(data) || !accepts_chunk()) return Feeding::refused;
    }
}

/// Rejects the request and returns false if the size of the current chunk exceeds the limit. Its
/// data need not arrive first.
bool Connection::accepts_chunk() {
    const auto left = chunks_.left();
    if (discarding_ || left <= service_->share.options.body_max - request_.body.size()) return true;
    refuse_too_large(may_read_on() && left <= discard_max);
    return false;
}

bool Connection::keep(std::string_view data) {
    progress_ += data.size();
    if (discarding_) {
        discarded_ += data.size();
        if (discarded_ <= discard_max) return true;
        end_for_good();
        return false;
    }
    auto& body = request_.body;
    if (data.size() > service_->share.options.body_max - body.size()) {
        refuse_too_large(may_read_on());
        return false;
    }
    if (!make_space(body.size() + data.size())) {
        refuse(503, "too many bodies are being received");
        return false;
    }
    body.append(data);
    return true;
}

/// Reserves budget before it allocates memory. Allocates for bytes that have arrived, not for the
/// announced length, because a client may announce more than it sends.
bool Connection::make_space(std::size_t size) {
    auto& body = request_.body;
    if (size <= body.capacity()) return true;
    const auto& head = head_.head();
    const auto most =
        static_cast<std::size_t>(head.content_length.value_or(service_->share.options.body_max));
    const auto capacity = std::min(std::max(size, 2 * body.capacity()), most);
    if (!service_->share.budget.take(capacity - charged_)) return false;
    charged_ = capacity;
    body.reserve(capacity);
    return true;
}

/// Whether the rest of the body is small enough to be read, so that the connection can be kept
/// alive. False if the client waits for 100 Continue, because it may then send the body or not.
bool Connection::may_read_on() const noexcept {
    return !head_.head().expects_continue && announced_left_ <= discard_max;
}

void Connection::forget_body() noexcept {
    std::string{}.swap(request_.body);
    if (charged_ > 0) service_->share.budget.release(std::exchange(charged_, 0));
}

void Connection::handle() {
    authorizing_ = false;
    if (!gone_) gone_ = std::make_shared<std::atomic<bool>>(half_closed_);
    request_.client_gone = gone_;
    ask(service_->share.handler, std::move(request_));
}

void Connection::ask(const HttpHandler& handler, HttpRequest request) {
    auto& share = service_->share;
    const bool refusable = request.method == "GET" || request.method == "HEAD";
    auto responder = std::make_shared<Responder>(service_->queue, *this, refusable);
    if (refusable) {
        request.reserve_answer = [responder = std::weak_ptr{responder}](std::size_t bytes) {
            const auto alive = responder.lock();
            return alive && alive->reserve(bytes);
        };
    }
    enter(State::waiting);
    const HandledHere scope{*this};
    const auto& answers_large = share.options.answers_large;
    const bool large = request.body.size() >= share.options.large_body_min ||
                       (refusable && answers_large && answers_large(request));
    if (large && share.large_requests.add(request, responder)) return;
    if (!call_handler(handler, std::move(request), responder, share.faults)) {
        service_->complained = true;
    }
    service_->queue->process().require_at_return();
    responder.reset();
}

void Connection::take(QueuedResponse answer) {
    if (state_ == State::abandoned) return close();
    if (answer.dropped) {
        fault("the handler dropped a request without a response");
        answer.response = own_answer(500, "internal error");
    }
    if (std::exchange(authorizing_, false)) {
        if (answer.response.status == 100) return begin_body();
        discarding_ = may_read_on();
        ending_ = !discarding_;
    }
    if (answer.refused) {
        service_->share.refusals.log("too many responses wait for their clients");
        service_->complained = true;
    }
    forget_body();
    memory_ = std::move(answer.memory);
    respond(std::move(answer.response));
}

void Connection::refuse(int status, const std::string& text, bool read_on) {
    service_->share.refusals.log(text);
    service_->complained = true;
    forget_body();
    body_left_ = true;
    discarding_ = read_on;
    ending_ = !read_on;
    respond(own_answer(status, text));
}

void Connection::refuse_too_large(bool read_on) {
    const auto text =
        "the body is larger than " + std::to_string(service_->share.options.body_max) + " bytes";
    refuse(413, text, read_on);
}

void Connection::fault(std::string_view text) noexcept {
    service_->share.faults.log(text);
    service_->complained = true;
}

void Connection::respond(HttpResponse response) {
    const auto& head = head_.head();
    const bool in_parts = response.rest != nullptr;
    chunked_ = in_parts && !head.old_version;
    ending_ = ending_ || !head.keep_alive || service_->stopping || (in_parts && !chunked_);
    const auto framing = chunked_   ? Framing::chunked
                         : in_parts ? Framing::closing
                                    : Framing::length;
    auto persistence = ending_ ? Persistence::closed : Persistence::kept;
    if (!ending_ && head.old_version) persistence = Persistence::kept_by_wish;
    output_.clear();
    const auto date = service_->date.text();
    if (!write_answer_head(output_, response, date, persistence, framing)) {
        fault("invalid answer: status " + std::to_string(response.status) + " or its headers");
        response = own_answer(500, "internal error");
        static_cast<void>(write_answer_head(output_, response, date, persistence));
    }
    if (head.method != "HEAD" && has_content(response.status)) set_content(response);
    if (content_.empty() && !rest_) memory_ = {};
    sent_ = 0;
    given_ = 0;
    began_ = service_->now;
    progress_ = 0;
    progressed_at_ = began_;
    enter(State::sending);
}

void Connection::set_content(HttpResponse& response) {
    auto& body = response.body;
    rest_ = std::move(response.rest);
    if (rest_ && chunked_ && !body.empty()) {
        append_chunk_size(output_, body.size());
        body += chunk_end;
    }
    if (body.size() <= small_body_max) {
        output_ += body;
    } else {
        content_ = std::move(body);
    }
}

void Connection::produce() {
    std::string part;
    const bool more = rest_(part);
    if (!more) rest_ = nullptr;
    turn_bytes_ += part.size();
    output_.clear();
    sent_ = 0;
    if (chunked_ && !part.empty()) {
        append_chunk_size(output_, part.size());
        part += chunk_end;
    }
    if (chunked_ && !more) part += last_chunk;
    content_ = std::move(part);
}

bool Connection::flush() {
    const auto total = output_.size() + content_.size();
    const auto part = [](std::string& bytes, std::size_t from) {
        from = std::min(from, bytes.size());
        return iovec{bytes.data() + from, bytes.size() - from};
    };
    std::array parts{part(output_, sent_), part(content_, sent_ - std::min(sent_, output_.size()))};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = content_.empty() ? 1 : parts.size();
    const auto sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (sent < 0) {
        if (errno == EINTR) return true;
        if (errno != EAGAIN) enter(State::closed);
        return false;
    }
    sent_ += static_cast<std::size_t>(sent);
    given_ += static_cast<std::size_t>(sent);
    turn_bytes_ += static_cast<std::size_t>(sent);
    // After a short write, the kernel reports when it accepts more bytes.
    if (sent_ < total) return true;
    std::string{}.swap(content_);
    if (rest_) {
        produce();
    } else {
        memory_ = {};
        end_answer();
    }
    return true;
}

/// Called when the response is sent. Then the rest of the request must be read, or the connection
/// must be closed.
void Connection::end_answer() {
    if (ending_) {
        const bool more_may_come = body_left_ || readable_ || !input_.empty();
        if (!more_may_come) return enter(State::closed);
        ::shutdown(socket_.get(), SHUT_WR);
        input_.clear();
        discarded_ = 0;
        return enter(State::lingering);
    }
    if (discarding_ && body_left_) {
        began_ = service_->now;
        progress_ = 0;
        return enter(State::body);
    }
    discarding_ = false;
    head_ = {};
    enter(State::idle);
}

/// Closes the connection after the response. Bytes that arrive in the meantime are discarded.
void Connection::end_for_good() {
    ending_ = true;
    end_answer();
}

bool Connection::discard() {
    if (!readable_) return false;
    auto& scratch = service_->scratch;
    const auto got = ::recv(socket_.get(), scratch.data(), scratch.size(), 0);
    if (got > 0) {
        discarded_ += static_cast<std::size_t>(got);
        turn_bytes_ += static_cast<std::size_t>(got);
        if (discarded_ > linger_max) enter(State::closed);
        return true;
    }
    if (got < 0 && errno == EINTR) return true;
    readable_ = false;
    if (got == 0 || errno != EAGAIN) enter(State::closed);
    return false;
}

/// Whether `bytes` are too few for the elapsed time. As in Apache's mod_reqtimeout, a client has
/// `header_timeout`, plus a time in proportion to the bytes.
bool Connection::too_slow(std::uint64_t bytes) const {
    const auto& options = service_->share.options;
    const std::chrono::duration<double> earned{
        static_cast<double>(bytes) /
        static_cast<double>(std::max<std::uint64_t>(options.body_rate_min, 1))};
    return service_->now - began_ > options.header_timeout + earned;
}

/// Closes the connection if the client does not read. Bytes count as read when the client's kernel
/// has acknowledged them. Bytes accepted only by this machine's kernel may never be read.
void Connection::check_reading() {
    int unacknowledged = 0;
    if (::ioctl(socket_.get(), SIOCOUTQ, &unacknowledged) != 0) unacknowledged = 0;
    const auto left = static_cast<std::uint64_t>(std::max(unacknowledged, 0));
    const auto read = given_ - std::min(given_, left);
    if (read > progress_) progressed_at_ = service_->now;
    progress_ = std::max(progress_, read);
    const auto& share = service_->share;
    const bool scarce = !memory_.empty() && share.answers->scarce();
    const Duration patience =
        scarce ? std::min<Duration>(scarce_patience, share.options.header_timeout)
               : share.options.header_timeout;
    if (service_->now - progressed_at_ < patience && !too_slow(progress_)) return;
    service_->share.refusals.log(
        "a client does not read its response, and its connection was closed");
    service_->complained = true;
    // A TCP reset also frees the kernel's send buffer.
    const linger at_once{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

void Connection::expire() {
    switch (state_) {
        case State::head:
            if (!head_.begun() && input_.empty()) return close();
            refuse(408, "the head of the request did not arrive in time");
            break;
        case State::body:
            if (!too_slow(progress_)) return;
            if (discarding_) return close();
            refuse(408, "the body arrives too slowly");
            break;
        case State::sending: return check_reading();
        case State::fresh:
        case State::idle:
        case State::lingering: return close();
        case State::waiting:
        case State::abandoned:
        case State::closed: return;
    }
}

void Connection::stop() {
    readable_ = true;
    for (int turns = 0; turns < steps_per_turn && proceed(); ++turns) continue;
    if (state_ == State::head || (state_ == State::body && !discarding_)) {
        refuse(503, "the server is stopping");
    } else if (state_ == State::fresh || state_ == State::idle || state_ == State::body) {
        close();
    }
}

}  // namespace routemaster::detail
