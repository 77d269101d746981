#include "http_server_loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "http_server_target.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// What an event of the loop's epoll is about: the upper half of its data; the lower is a socket.
constexpr std::uint64_t about_daemon = 0ULL << 32U;
constexpr std::uint64_t about_mail = 1ULL << 32U;
constexpr std::uint64_t about_listener = 2ULL << 32U;
constexpr std::uint64_t about_farewell = 3ULL << 32U;
constexpr std::uint64_t about_mask = ~0ULL << 32U;

/// Request line and headers must fit into it; half of it is what a body is read in. Every open
/// connection holds that much. 4 to 32 KiB make no difference to the speed of small requests.
constexpr std::size_t connection_memory = 16384;
/// What is set aside for a body before its bytes arrive, whatever the client announces.
constexpr std::size_t reserve_max = 65536;
/// A refused body of unknown length is read to its end to answer the client, but no further than
/// this many times the size that would have been accepted.
constexpr std::size_t discard_factor = 8;
/// A request is suspended when it has waited that long, or when that many wait already. To suspend
/// and resume costs three system calls, for libmicrohttpd takes the socket out of its epoll and
/// puts it back; to be asked again in every turn costs little while they are few.
constexpr milliseconds suspend_after{5};
constexpr std::size_t waiting_max = 256;
/// Between two turns while requests wait unsuspended and nothing else happens.
constexpr int waiting_turn_milliseconds = 1;
constexpr int accepts_per_turn = 64;
constexpr int runs_per_turn = 8;
constexpr milliseconds listen_pause{100};
/// How long answers given at the very end may take to leave.
constexpr milliseconds send_patience{200};

HttpResponse plain(int status, std::string text) {
    return {status, std::move(text), "text/plain; charset=utf-8", {}};
}

std::string_view header(MHD_Connection* connection, const char* name) {
    const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value == nullptr ? std::string_view{} : value;
}

std::optional<std::uint64_t> announced_size(MHD_Connection* connection) {
    const auto text = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return size;
}

HttpRequest make_request(Exchange& exchange, const char* method, std::string path) {
    HttpRequest request;
    request.method = method;
    request.path = std::move(path);
    request.content_type = header(exchange.connection, MHD_HTTP_HEADER_CONTENT_TYPE);
    const auto authorization = header(exchange.connection, MHD_HTTP_HEADER_AUTHORIZATION);
    request.has_authorization = authorization.data() != nullptr;
    request.authorization = authorization;
    request.body = std::move(exchange.body);
    return request;
}

/// The path is decoded by us: libmicrohttpd would end it at an encoded zero byte.
std::size_t leave_escaped(void*, MHD_Connection*, char* text) { return std::strlen(text); }

}  // namespace

Loop::Loop(const HttpServerOptions& options, const HttpHandler& handler, Listener& listener)
    : options_{options},
      handler_{handler},
      listener_{listener},
      mailbox_{std::make_shared<Mailbox>()},
      epoll_{epoll_create1(EPOLL_CLOEXEC)},
      farewells_{epoll_.get(), about_farewell} {
    start_daemon();
    const auto* info = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_EPOLL_FD);
    if (!watch(info->epoll_fd, EPOLLIN, about_daemon) ||
        !watch(mailbox_->wake_descriptor(), EPOLLIN | EPOLLET, about_mail)) {
        throw Failure{{Errc::unavailable, "http server: cannot make an event loop"}};
    }
}

Loop::~Loop() {
    mailbox_->stop(steady_clock::now());
    join();
}

void Loop::start_daemon() {
    // Whole seconds is what libmicrohttpd counts in; 0 would mean never.
    const auto idle = std::max<std::chrono::seconds::rep>(
        1, std::chrono::ceil<std::chrono::seconds>(options_.idle_timeout).count());
    unsigned flags =
        MHD_USE_EPOLL | MHD_USE_TURBO | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
    if (options_.log) flags |= MHD_USE_ERROR_LOG;
    // clang-format off
    daemon_.reset(MHD_start_daemon(
        flags, 0, nullptr, nullptr, &Loop::on_request, this,
        MHD_OPTION_EXTERNAL_LOGGER, &Loop::on_message, this,
        MHD_OPTION_NOTIFY_COMPLETED, &Loop::on_completed, this,
        MHD_OPTION_NOTIFY_CONNECTION, &Loop::on_connection, this,
        MHD_OPTION_UNESCAPE_CALLBACK, &leave_escaped, nullptr,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
        MHD_OPTION_CONNECTION_LIMIT, options_.connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(idle),
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END));
    // clang-format on
    if (!daemon_) throw Failure{{Errc::unavailable, "http server: cannot make an event loop"}};
}

bool Loop::watch(int descriptor, std::uint32_t events, std::uint64_t tag) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = tag | static_cast<std::uint64_t>(descriptor);
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Loop::start(Mailboxes mailboxes) {
    mailboxes_ = std::move(mailboxes);
    if (!mailboxes_.empty()) listen_again_at_ = steady_clock::now();
    thread_ = std::thread{[this] { run(); }};
}

void Loop::join() {
    if (thread_.joinable()) thread_.join();
}

void Loop::run() {
    while (!finished()) {
        wait();
        run_daemon();
    }
    wind_up();
}

bool Loop::finished() const {
    return stop_at_ && (exchanges_.empty() || steady_clock::now() >= *stop_at_);
}

void Loop::wait() {
    std::array<epoll_event, 64> events{};
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 timeout_milliseconds());
    for (int i = 0; i < count; ++i) {
        const std::uint64_t data = events[static_cast<std::size_t>(i)].data.u64;
        switch (data & about_mask) {
            case about_mail: read_mail(); break;
            case about_listener: accept_clients(); break;
            case about_farewell: farewells_.read(static_cast<int>(data & ~about_mask)); break;
            default: break;
        }
    }
}

/// Does what is due by the clock; returns how long nothing else is, rounded up.
int Loop::timeout_milliseconds() {
    const auto now = steady_clock::now();
    listen_again(now);
    const auto farewell_at = farewells_.expire(now);
    if (has_more_to_do()) return 0;
    if (waiting_ > 0) return waiting_turn_milliseconds;
    unsigned long long wait = INT32_MAX;
    MHD_get_timeout(daemon_.get(), &wait);
    wait = std::min(wait, static_cast<unsigned long long>(INT32_MAX));
    for (const auto& at : {farewell_at, listen_again_at_, stop_at_}) {
        if (!at) continue;
        const auto left = std::chrono::ceil<milliseconds>(*at - now).count();
        wait = std::min(wait, static_cast<unsigned long long>(std::max<std::int64_t>(left, 0)));
    }
    return wait == INT32_MAX ? -1 : static_cast<int>(wait);
}

void Loop::run_daemon() {
    // What is answered now is sent by the next run: that costs less than another round through
    // both epolls.
    turn_ = steady_clock::now();
    int runs = 0;
    do {
        progress_ = false;
        MHD_run(daemon_.get());
    } while (++runs < runs_per_turn && has_more_to_do());
}

/// libmicrohttpd never rests while a request waits unsuspended, so then it is only believed if it
/// has just done something.
bool Loop::has_more_to_do() const {
    unsigned long long left = 0;
    return (waiting_ == 0 || progress_) && MHD_get_timeout(daemon_.get(), &left) == MHD_YES &&
           left == 0;
}

void Loop::accept_clients() {
    for (int i = 0; i < accepts_per_turn; ++i) {
        auto client = listener_.accept();
        if (!client) break;
        mailboxes_[next_mailbox_++ % mailboxes_.size()]->post(std::move(*client));
    }
    if (!listener_.exhausted()) return;
    // The listener stays readable while clients wait, so it is not watched until later.
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.descriptor(), nullptr);
    listen_again_at_ = steady_clock::now() + listen_pause;
}

void Loop::listen_again(SteadyTime now) {
    if (!listen_again_at_ || now < *listen_again_at_) return;
    const bool watched = watch(listener_.descriptor(), EPOLLIN, about_listener);
    listen_again_at_ = watched ? std::nullopt : std::optional{now + listen_pause};
}

void Loop::read_mail() {
    mailbox_->take(mail_);
    for (auto& client : mail_.connections) adopt(client);
    for (auto& answer : mail_.answers) deliver(answer);
    if (mail_.stop_at && !stop_at_) {
        stop_at_ = mail_.stop_at;
        listen_again_at_.reset();
        if (!mailboxes_.empty()) listener_.close();
    }
    mail_.connections.clear();
    mail_.answers.clear();
    mail_.stop_at.reset();
}

void Loop::deliver(Answer& answer) {
    Exchange& exchange = *answer.exchange;
    if (exchange.state == Exchange::State::abandoned) {
        abandoned_.erase(exchange.place);
        return;
    }
    if (exchange.state == Exchange::State::suspended) {
        MHD_resume_connection(exchange.connection);
    } else {
        --waiting_;
    }
    exchange.take(std::move(answer));
    progress_ = true;
}

void Loop::adopt(Connection& client) {
    const auto* address = reinterpret_cast<const sockaddr*>(&client.address);
    if (MHD_add_connection(daemon_.get(), client.socket.release(), address, client.address_size) !=
        MHD_YES) {
        listener_.ended();
    }
}

void Loop::wind_up() {
    mailbox_->close(mail_);
    closed_ = true;
    mail_.connections.clear();
    for (auto& answer : mail_.answers) deliver(answer);
    for (auto& exchange : exchanges_) {
        if (exchange.state != Exchange::State::waiting &&
            exchange.state != Exchange::State::suspended) {
            continue;
        }
        Answer answer{&exchange, plain(503, "the server is stopping\n")};
        deliver(answer);
    }
    const auto deadline = steady_clock::now() + send_patience;
    run_daemon();
    while (unsent() && steady_clock::now() < deadline) {
        std::array<epoll_event, 1> event{};
        epoll_wait(epoll_.get(), event.data(), 1, 10);
        run_daemon();
    }
    daemon_.reset();
}

bool Loop::unsent() const {
    return std::any_of(exchanges_.begin(), exchanges_.end(), [](const Exchange& exchange) {
        return exchange.state == Exchange::State::answered;
    });
}

MHD_Result Loop::on_request(void* self, MHD_Connection* connection, const char* target,
                            const char* method, const char*, const char* upload,
                            std::size_t* upload_size, void** context) noexcept {
    auto& loop = *static_cast<Loop*>(self);
    try {
        if (*context == nullptr) return loop.begin(connection, context);
        auto& exchange = *static_cast<Exchange*>(*context);
        if (*upload_size == 0) return loop.complete(exchange, target, method);
        loop.receive(exchange, {upload, *upload_size});
        *upload_size = 0;
        const bool endless = exchange.discarded / discard_factor > loop.options_.body_max;
        return endless ? MHD_NO : MHD_YES;
    } catch (const std::exception& error) {
        loop.log(LogLevel::error, std::string{"http: connection closed: "} + error.what());
        return MHD_NO;
    }
}

MHD_Result Loop::begin(MHD_Connection* connection, void** context) {
    progress_ = true;
    exchanges_.emplace_front(connection);
    Exchange& exchange = exchanges_.front();
    exchange.place = exchanges_.begin();
    *context = &exchange;
    const auto size = announced_size(connection);
    if (!size) return MHD_YES;
    if (*size <= options_.body_max) {
        exchange.body.reserve(std::min(static_cast<std::size_t>(*size), reserve_max));
        return MHD_YES;
    }
    // Answered before the body is read, and before a client that expects a `100 Continue` gets it.
    refuse(exchange);
    exchange.farewell = true;
    return send(exchange);
}

void Loop::receive(Exchange& exchange, std::string_view data) {
    progress_ = true;
    if (exchange.state == Exchange::State::refused) {
        exchange.discarded += data.size();
    } else if (data.size() > options_.body_max - exchange.body.size()) {
        refuse(exchange);
        exchange.body = {};
    } else {
        exchange.body.append(data);
    }
}

void Loop::refuse(Exchange& exchange) {
    exchange.state = Exchange::State::refused;
    const auto text = "the body is larger than " + std::to_string(options_.body_max) + " bytes";
    log(LogLevel::info, "http: refused: " + text);
    exchange.response = plain(413, text + '\n');
}

MHD_Result Loop::complete(Exchange& exchange, const char* target, const char* method) {
    if (exchange.state == Exchange::State::receiving) {
        auto path = path_of_target(target);
        if (closed_) {
            exchange.take({&exchange, plain(503, "the server is stopping\n")});
        } else if (!path) {
            exchange.take({&exchange, plain(400, "the path is not percent-encoded properly\n")});
        } else {
            handle(exchange, make_request(exchange, method, std::move(*path)));
        }
    }
    if (exchange.state == Exchange::State::answered || exchange.state == Exchange::State::refused) {
        return send(exchange);
    }
    await(exchange);
    return MHD_YES;
}

void Loop::await(Exchange& exchange) {
    if (exchange.state == Exchange::State::handling) {
        exchange.state = Exchange::State::waiting;
        exchange.waiting_since = turn_;
        ++waiting_;
    }
    if (waiting_ <= waiting_max && turn_ - exchange.waiting_since < suspend_after) return;
    exchange.state = Exchange::State::suspended;
    --waiting_;
    MHD_suspend_connection(exchange.connection);
}

void Loop::handle(Exchange& exchange, HttpRequest request) {
    auto ticket = std::make_shared<Ticket>(mailbox_, exchange);
    exchange.state = Exchange::State::handling;
    Exchange::handled_here = &exchange;
    try {
        handler_(std::move(request),
                 [ticket](HttpResponse response) { ticket->answer(std::move(response)); });
    } catch (const std::exception& error) {
        log(LogLevel::error, std::string{"http: the handler threw: "} + error.what());
        ticket->answer(plain(500, "internal error\n"));
    } catch (...) {
        log(LogLevel::error, "http: the handler threw something that is no exception");
        ticket->answer(plain(500, "internal error\n"));
    }
    ticket.reset();
    Exchange::handled_here = nullptr;
}

MHD_Result Loop::send(Exchange& exchange) {
    progress_ = true;
    if (exchange.dropped) {
        log(LogLevel::error, "http: a request was dropped without an answer");
        exchange.response = plain(500, "internal error\n");
    }
    const bool last = stop_at_.has_value();
    if (responses_.queue(exchange.connection, exchange.response, last)) return MHD_YES;
    log(LogLevel::error, "http: not an answer: status " + std::to_string(exchange.response.status) +
                             " or its headers");
    exchange.response = plain(500, "internal error\n");
    return responses_.queue(exchange.connection, exchange.response, last) ? MHD_YES : MHD_NO;
}

void Loop::on_completed(void* self, MHD_Connection* connection, void** context,
                        MHD_RequestTerminationCode) noexcept {
    if (*context == nullptr) return;
    auto& loop = *static_cast<Loop*>(self);
    auto& exchange = *static_cast<Exchange*>(*context);
    if (exchange.farewell && !loop.closed_) {
        const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        loop.farewells_.add(info->connect_fd, steady_clock::now());
    }
    loop.progress_ = true;
    *context = nullptr;
    if (exchange.state == Exchange::State::waiting) {
        --loop.waiting_;
        exchange.state = Exchange::State::abandoned;
        loop.abandoned_.splice(loop.abandoned_.begin(), loop.exchanges_, exchange.place);
    } else {
        loop.exchanges_.erase(exchange.place);
    }
}

void Loop::on_connection(void* self, MHD_Connection*, void**,
                         MHD_ConnectionNotificationCode code) noexcept {
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) static_cast<Loop*>(self)->listener_.ended();
}

void Loop::on_message(void* self, const char* format, va_list arguments) noexcept {
    std::array<char, 512> line{};
    const int size = std::vsnprintf(line.data(), line.size(), format, arguments);
    if (size <= 0) return;
    std::string_view text{line.data(), std::min(static_cast<std::size_t>(size), line.size() - 1)};
    while (text.ends_with('\n')) text.remove_suffix(1);
    static_cast<Loop*>(self)->log(LogLevel::debug, "http: " + std::string{text});
}

void Loop::log(LogLevel level, const std::string& line) const noexcept {
    if (options_.log) options_.log(level, line);
}

}  // namespace routemaster::detail
