#include "http_server_loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/system/thread.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Values of `epoll_event::data`. All other values are addresses of connections.
constexpr std::uint64_t about_events = 0;
constexpr std::uint64_t about_listener = 1;

constexpr int accepts_per_turn = 64;
/// Maximum number of queued connections that continue in an iteration, before new events are
/// processed.
constexpr std::size_t advances_per_turn = 16;
/// How long the listener is not watched when no connection can be accepted, and after an eviction.
constexpr milliseconds listen_pause{100};
constexpr milliseconds eviction_pause{1};
/// How often the loop checks the transfer rates of bodies and responses.
constexpr milliseconds look_interval{1'000};
/// Timeout of a lingering connection, in which the client must read its response.
constexpr milliseconds lingering_timeout{2'000};
/// Minimum age of an incomplete request, or of an idle connection, for an eviction.
constexpr milliseconds half_open_protection{500};
constexpr milliseconds idle_protection{5'000};
/// Timeout for sending the last responses when the server stops.
constexpr milliseconds send_timeout{200};

bool has_socket(Connection::State state) noexcept {
    return state != Connection::State::abandoned && state != Connection::State::closed;
}

std::uint64_t address_of(Connection& connection) noexcept {
    return reinterpret_cast<std::uintptr_t>(&connection);
}

}  // namespace

Loop::Loop(ServerShare& share, Listener& listener)
    : share_{share},
      listener_{listener},
      service_{.share = share, .queue = std::make_shared<EventQueue>(share.answers)},
      epoll_{epoll_create1(EPOLL_CLOEXEC)} {
    if (!watch(queue()->wake_descriptor(), EPOLLIN | EPOLLET, about_events)) {
        throw Failure{{Errc::unavailable, "http server: cannot make an event loop"}};
    }
}

Loop::~Loop() {
    queue()->stop(steady_clock::now());
    join();
}

bool Loop::watch(int descriptor, std::uint32_t events, std::uint64_t about) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = about;
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void Loop::start(EventQueues queues) {
    queues_ = std::move(queues);
    if (!queues_.empty()) listen_again_at_ = steady_clock::now();
    thread_ = start_thread([this] { run(); });
}

void Loop::join() {
    if (thread_.joinable()) thread_.join();
}

void Loop::run() {
    turn_ = queue()->begin_turn([this](QueuedResponse& answer) { return send(answer); });
    service_.now = steady_clock::now();
    while (!finished()) {
        listen_again();
        turn(time_left());
    }
    wind_up();
    turn_.unlock();
}

bool Loop::finished() const {
    return stop_at_ && ((in(State::waiting).empty() && in(State::sending).empty()) ||
                        service_.now >= *stop_at_);
}

/// Sends a response on the responding thread, while the loop sleeps. Everything else is left to the
/// loop, because the responding thread must not work on, or wait for, other requests.
bool Loop::send(QueuedResponse& answer) {
    auto& connection = *answer.connection;
    if (service_.stopping || connection.state() != State::waiting) return false;
    if (in(State::waiting).size() > 1) return false;
    // Large responses are sent by the loop.
    if (answer.response.body.size() > small_body_max || answer.response.rest) return false;
    service_.now = steady_clock::now();
    connection.take(std::move(answer));
    const bool more = connection.send();
    settle(connection);
    if (more) {
        enqueue(connection);
        queue()->wake();
    }
    return true;
}

/// One iteration: waits for events for at most `wait`, then handles events and expired timeouts.
void Loop::turn(std::optional<milliseconds> wait) {
    std::array<epoll_event, 256> events{};
    const int timeout =
        wait ? static_cast<int>(std::min<milliseconds::rep>(wait->count(), 60'000)) : -1;
    turn_.unlock();
    const int count =
        epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    turn_.lock();
    service_.now = steady_clock::now();
    advance_queued();
    for (int i = 0; i < count; ++i) {
        const auto& event = events[static_cast<std::size_t>(i)];
        if (event.data.u64 == about_events) {
            read_events();
        } else if (event.data.u64 == about_listener) {
            accept_clients();
        } else {
            // A connection closed in this iteration still exists and ignores events.
            auto& connection = *reinterpret_cast<Connection*>(event.data.u64);
            connection.notice(event.events);
            connection.producing() ? enqueue(connection) : advance(connection);
        }
    }
    expire();
    const bool asked = evictions_ > 0;
    if (asked) evict();
    bury_closed();
    report_evictable(asked);
    tell_complaints();
}

/// Returns the time until the next timeout, rounded up to milliseconds.
std::optional<milliseconds> Loop::time_left() const {
    if (!queued_.empty()) return milliseconds{0};
    std::optional<SteadyTime> first;
    const auto consider = [&](const std::optional<SteadyTime>& at) {
        if (at && (!first || *at < *first)) first = at;
    };
    for (std::size_t i = 0; i < Connection::states; ++i) {
        const auto timeout = timeout_of(static_cast<State>(i));
        if (timeout && !connections_[i].empty()) {
            consider(connections_[i].front().since + *timeout);
        }
    }
    for (const auto& at : {listen_again_at_, complain_at_, stop_at_}) consider(at);
    // A responding thread may change a waiting connection to the state `sending`, which has a
    // timeout that the sleeping loop does not see.
    if (!in(State::waiting).empty()) consider(service_.now + look_interval);
    if (!first) return std::nullopt;
    return std::max(std::chrono::ceil<milliseconds>(*first - service_.now), milliseconds{0});
}

void Loop::accept_clients() {
    if (stop_at_) return;
    for (int i = 0; i < accepts_per_turn; ++i) {
        const bool full = listener_.full();
        const auto has_place = [&] {
            return std::any_of(queues_.begin(), queues_.end(), [&](const auto& each) {
                return each->evictable_at.load(std::memory_order_relaxed) <= service_.now;
            });
        };
        if (full && !has_place()) return listen_later(listen_pause);
        auto client = listener_.accept();
        if (!client && !listener_.exhausted()) return;
        const bool made_place = (full || listener_.exhausted()) && make_place();
        if (!client) return listen_later(made_place ? eviction_pause : listen_pause);
        queues_[next_queue_++ % queues_.size()]->post(std::move(client));
        if (made_place) return listen_later(eviction_pause);
    }
}

/// Stops watching the listening socket for `pause`. Otherwise epoll would report the socket
/// continuously while clients wait.
void Loop::listen_later(milliseconds pause) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.descriptor(), nullptr);
    listen_again_at_ = service_.now + pause;
}

void Loop::listen_again() {
    if (!listen_again_at_ || service_.now < *listen_again_at_) return;
    const bool watched = watch(listener_.descriptor(), EPOLLIN, about_listener);
    listen_again_at_ = watched ? std::nullopt : std::optional{service_.now + listen_pause};
}

/// Requests a loop to close the connection that has been evictable for longest. Returns false if
/// there is none.
bool Loop::make_place() {
    const auto at = [](const auto& queue) {
        return queue->evictable_at.load(std::memory_order_relaxed);
    };
    const auto oldest =
        std::min_element(queues_.begin(), queues_.end(),
                         [&](const auto& a, const auto& b) { return at(a) < at(b); });
    if (at(*oldest) > service_.now) return false;
    // The loop of this connection sets `evictable_at` again after it has closed the connection.
    (*oldest)->evictable_at.store(SteadyTime::max(), std::memory_order_relaxed);
    (*oldest)->evict();
    return true;
}

void Loop::read_events() {
    queue()->take(events_);
    evictions_ += std::exchange(events_.evictions, 0);
    for (auto& client : events_.clients) adopt(std::move(client));
    for (auto& answer : events_.responses) {
        auto& connection = *answer.connection;
        connection.take(std::move(answer));
        advance(connection);
    }
    if (events_.stop_at && !stop_at_) stop(*events_.stop_at);
    events_.clients.clear();
    events_.responses.clear();
    events_.stop_at.reset();
}

void Loop::adopt(FileDescriptor client) {
    const int descriptor = client.get();
    auto& fresh = in(State::fresh);
    auto& connection = fresh.emplace_back(service_, std::move(client));
    connection.place = std::prev(fresh.end());
    connection.since = service_.now;
    connection.moved = false;
    // Edge-triggered, so that the socket is registered only once for all events.
    if (!watch(descriptor, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, address_of(connection))) {
        connection.close();
        settle(connection);
    }
}

void Loop::stop(SteadyTime deadline) {
    stop_at_ = deadline;
    listen_again_at_.reset();
    if (!queues_.empty()) listener_.close();
    service_.stopping = true;
    for (const auto state : {State::fresh, State::idle, State::head, State::body}) {
        auto& connections = in(state);
        for (auto each = connections.begin(); each != connections.end();) {
            auto& connection = *each++;
            connection.stop();
            advance(connection);
        }
    }
}

void Loop::advance(Connection& connection) {
    if (connection.proceed()) enqueue(connection);
    settle(connection);
}

void Loop::enqueue(Connection& connection) {
    if (std::exchange(connection.queued, true)) return;
    queued_.push_back(&connection);
}

void Loop::settle(Connection& connection) noexcept {
    if (!connection.moved) return;
    connection.moved = false;
    connection.since = service_.now;
    const auto state = connection.state();
    if (has_socket(connection.listed) && !has_socket(state)) listener_.ended();
    auto& to = in(state);
    to.splice(to.end(), in(connection.listed), connection.place);
    connection.listed = state;
}

void Loop::advance_queued() {
    for (auto count = std::min(queued_.size(), advances_per_turn); count > 0; --count) {
        auto& connection = *queued_.front();
        queued_.pop_front();
        connection.queued = false;
        advance(connection);
    }
}

void Loop::bury_closed() {
    auto& closed = in(State::closed);
    if (closed.empty()) return;
    queued_.erase(
        std::remove_if(queued_.begin(), queued_.end(),
                       [](const Connection* each) { return each->state() == State::closed; }),
        queued_.end());
    closed.clear();
}

std::optional<milliseconds> Loop::timeout_of(State state) const {
    const auto& options = share_.options;
    // Rounded up, because a client may connect some time before its first request.
    const milliseconds idle =
        std::chrono::ceil<std::chrono::seconds>(std::max(options.idle_timeout, Duration{1}));
    const milliseconds head = std::max(options.header_timeout, Duration{1});
    switch (state) {
        case State::fresh: return std::min(idle, head);
        case State::idle: return idle;
        case State::head: return head;
        case State::body:
        case State::sending: return look_interval;
        case State::lingering: return lingering_timeout;
        case State::waiting:
        case State::abandoned:
        case State::closed: break;
    }
    return std::nullopt;
}

void Loop::expire() {
    for (std::size_t i = 0; i < Connection::states; ++i) {
        auto& connections = connections_[i];
        const auto timeout = timeout_of(static_cast<State>(i));
        if (!timeout) continue;
        while (!connections.empty() && connections.front().since + *timeout <= service_.now) {
            auto& connection = connections.front();
            connection.expire();
            // If the connection stays open, this moves the connection to the end of the list for
            // its next check.
            connection.moved = true;
            settle(connection);
            advance(connection);
        }
    }
}

/// Returns the first connection to evict; null if there is none. Sets `at` to the time from which
/// it may be evicted.
Connection* Loop::first_evictable(SteadyTime& at) {
    Connection* first = nullptr;
    const auto consider = [&](State state, milliseconds protection) {
        if (in(state).empty()) return;
        auto& oldest = in(state).front();
        if (first != nullptr && oldest.since + protection >= at) return;
        first = &oldest;
        at = oldest.since + protection;
    };
    consider(State::lingering, milliseconds{0});
    consider(State::fresh, half_open_protection);
    consider(State::head, half_open_protection);
    consider(State::body, half_open_protection);
    consider(State::idle, idle_protection);
    return first;
}

/// Closes as many connections as requested. If fewer are evictable now, the other evictions remain
/// pending until the number of connections is within the limit.
void Loop::evict() {
    for (; evictions_ > 0; --evictions_) {
        SteadyTime at{};
        auto* const connection = first_evictable(at);
        if (connection == nullptr || at > service_.now) break;
        share_.refusals.log(
            "all connections are in use: the oldest without a complete request was closed");
        service_.complained = true;
        connection->close();
        settle(*connection);
    }
    if (!listener_.overfull()) evictions_ = 0;
}

/// Publishes in `evictable_at` when the next connection may be evicted. The accepting loop sets
/// `evictable_at` to the maximum when it requests an eviction. Until this loop has handled the
/// request (`asked`), it must not overwrite that value.
void Loop::report_evictable(bool asked) {
    auto at = SteadyTime::max();
    if (first_evictable(at) == nullptr) at = SteadyTime::max();
    auto& reported = queue()->evictable_at;
    if (asked) {
        reported.store(at, std::memory_order_relaxed);
    } else if (auto last = evictable_reported_;
               !reported.compare_exchange_strong(last, at, std::memory_order_relaxed)) {
        return;
    }
    evictable_reported_ = at;
}

void Loop::tell_complaints() {
    if (std::exchange(service_.complained, false) && !complain_at_) {
        complain_at_ = service_.now + Complaints::pause;
    }
    if (!complain_at_ || service_.now < *complain_at_) return;
    const bool refusals_left = share_.refusals.flush();
    const bool faults_left = share_.faults.flush();
    complain_at_.reset();
    if (refusals_left || faults_left) complain_at_ = service_.now + Complaints::pause;
}

void Loop::wind_up() {
    queue()->close(events_);
    events_.clients.clear();
    for (auto& answer : events_.responses) {
        answer.connection->take(std::move(answer));
        advance(*answer.connection);
    }
    auto& waiting = in(State::waiting);
    while (!waiting.empty()) {
        auto& connection = waiting.front();
        connection.take({&connection, own_answer(503, "the server is stopping")});
        advance(connection);
    }
    const auto deadline = steady_clock::now() + send_timeout;
    bool more = true;
    while (!in(State::sending).empty() && steady_clock::now() < deadline) {
        std::array<epoll_event, 64> events{};
        epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), more ? 0 : 10);
        more = false;
        auto& sending = in(State::sending);
        for (auto each = sending.begin(); each != sending.end();) {
            auto& connection = *each++;
            if (connection.proceed()) more = true;
            settle(connection);
        }
    }
    for (auto& connections : connections_) connections.clear();
}

}  // namespace routemaster::detail
