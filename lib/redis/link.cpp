#include "link.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <iterator>
#include <string>
#include <utility>

#include "core/system/thread.hpp"
#include "joint_call.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/store/completion_thread.hpp"

namespace routemaster::redis {

namespace {

/// Delay between attempts of a call while a cluster slot is being migrated.
constexpr Duration slot_pause{20};

}  // namespace

Link::Link(RedisOptions options, std::string channel, std::function<void(std::string_view)> heard,
           std::function<void(const std::string&)> heard_further)
    : context_{make_link_context(std::move(options))},
      further_channels_{
          std::make_shared<WakeChannels>(context_.dial.waker, std::move(heard_further))},
      channel_{std::move(channel), std::move(heard), further_channels_.get()},
      connector_{context_, entropy()},
      master_watch_{context_, entropy()},
      listener_backoff_{entropy()} {
    thread_ = detail::start_thread([this] { run(); });
}

Link::~Link() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    context_.dial.waker->wake();
    detail::join_outside(thread_, "store", "a completion");
}

void Link::send(std::span<Call> calls) {
    std::size_t accepted = 0;
    bool wake = false;
    bool stopping = false;
    {
        const std::lock_guard lock{mutex_};
        stopping = stopping_;
        if (!stopping) {
            accepted = std::min(calls.size(), context_.options.waiting_max - unanswered_);
            unanswered_ += accepted;
            const auto begin = std::make_move_iterator(calls.begin());
            submitted_.insert(submitted_.end(), begin,
                              begin + static_cast<std::ptrdiff_t>(accepted));
            wake = std::exchange(sleeping_, false);
        }
    }
    if (wake) context_.dial.waker->wake();
    for (auto& call : calls.subspan(accepted)) {
        call.done(stopping ? Error{Errc::cancelled, "the store was closed"}
                           : Error{Errc::unavailable, "too many steps wait for the server"});
    }
}

Result<void> Link::wait_until_connected(Duration timeout) {
    std::unique_lock lock{mutex_};
    status_changed_.wait_for(lock, timeout,
                             [this] { return was_connected_ || permanent_failure_; });
    if (was_connected_) return {};
    return last_error_;
}

void Link::run() {
    const CompletionThread marked;
    auto now = Steady::now();
    while (take_submitted(now)) {
        flush(now);
        report_results();
        polled_.clear();
        polled_.add(context_.dial.waker->descriptor(), POLLIN);
        connector_.watch(polled_);
        if (connection_) {
            connection_->watch(polled_);
            master_watch_.watch(polled_);
        }
        if (listener_) listener_->watch(polled_);
        polled_.wait(poll_timeout(now));
        if (polled_.ready(context_.dial.waker->descriptor()) != 0) context_.dial.waker->rest();
        now = Steady::now();
        work(now);
        report_results();
    }
    end();
}

/// Moves new calls to `waiting_`. Returns false when the loop must end.
bool Link::take_submitted(Instant now) {
    bool stopping = false;
    {
        const std::lock_guard lock{mutex_};
        sleeping_ = false;
        taken_.swap(submitted_);
        stopping = stopping_;
    }
    const auto deadline = now + context_.options.timeout;
    for (auto& call : taken_) {
        waiting_.push_back({.call = std::move(call), .number = ++calls_, .deadline = deadline});
    }
    taken_.clear();
    return !stopping;
}

/// Sends as many waiting calls as the connection accepts. Fails calls whose timeout has passed.
void Link::flush(Instant now) {
    for (auto* queue : {&retries_, &waiting_}) {
        while (!queue->empty() && queue->front().deadline <= now) {
            finished_.emplace_back(std::move(queue->front().call),
                                   Error{Errc::unavailable, unsent_reason()});
            queue->pop_front();
        }
        while (!queue->empty() && connection_ && connection_->is_open() && now >= send_due_) {
            connection_->send(take_next(*queue), now);
            if (slot_moving_) send_due_ = now + slot_pause;
        }
    }
    if (connection_) connection_->flush();
}

PendingCall Link::take_next(std::deque<PendingCall>& queue) {
    auto next = std::move(queue.front());
    queue.pop_front();
    std::vector<Call> joining;
    auto bytes = next.call.arguments.encoded().size();
    while (!queue.empty() && can_join(next.call, queue.front().call) && bytes < joined_bytes_max &&
           joining.size() + 1 < joined_max) {
        bytes += queue.front().call.arguments.encoded().size();
        joining.push_back(std::move(queue.front().call));
        queue.pop_front();
    }
    if (!joining.empty()) next.call = join(std::move(next.call), std::move(joining));
    return next;
}

std::string Link::unsent_reason() const {
    if (!connection_) return connector_.last_error().context();
    return "redis " + to_text(connection_->address()) +
           (slot_moving_ ? ": the slot is being moved" : ": its send buffer is full");
}

void Link::work(Instant now) {
    if (auto connection = connector_.work(polled_, now)) connected(std::move(connection), now);
    if (connection_) work_connection(now);
    work_listener(now);
    if (!connection_) publish_status();
}

void Link::work_connection(Instant now) {
    if (const auto master = master_watch_.work(connection_->address(), polled_, now)) {
        connection_->drain({Errc::unavailable, "the master is " + to_text(*master) + " now"});
        // First asks the sentinel that announced the new master, because the other sentinels may
        // not know the new master yet.
        connector_.prefer(master_watch_.sentinel());
    }
    connection_->work(polled_, now);
    collect(connection_->output(), now);
    if (connection_->state() == CommandConnection::State::lost) lost(now);
}

void Link::collect(CommandConnection::Output& output, Instant now) {
    if (output.slot_moving) {
        slot_moving_ = true;
        send_due_ = now + slot_pause;
    } else if (!output.finished.empty()) {
        slot_moving_ = false;
        send_due_ = Instant::min();
    }
    std::move(output.finished.begin(), output.finished.end(), std::back_inserter(finished_));
    const auto middle = static_cast<std::ptrdiff_t>(retries_.size());
    std::move(output.retries.begin(), output.retries.end(), std::back_inserter(retries_));
    std::inplace_merge(
        retries_.begin(), retries_.begin() + middle, retries_.end(),
        [](const PendingCall& a, const PendingCall& b) { return a.number < b.number; });
    output.finished.clear();
    output.retries.clear();
    output.slot_moving = false;
}

void Link::connected(std::unique_ptr<CommandConnection> connection, Instant now) {
    connection_ = std::move(connection);
    auto line = to_text(connection_->address()) + ": connected";
    if (lost_at_) {
        const auto away = std::chrono::duration_cast<Duration>(now - *lost_at_);
        line += " again, after " + std::to_string(away.count()) + " ms";
    }
    context_.log(LogLevel::info, line);
    master_watch_.check();
    // Opens the listening connection again, because it must be to the server that receives the
    // calls. It may also be broken without a visible error.
    listen(now);
    const std::lock_guard lock{mutex_};
    was_connected_ = true;
    status_changed_.notify_all();
}

void Link::lost(Instant now) {
    lost_at_ = now;
    const bool moved = connection_->redirect().has_value();
    context_.log(
        moved ? LogLevel::info : LogLevel::warning,
        to_text(connection_->address()) + ": connection lost: " + connection_->reason().context());
    connector_.begin(*connection_, now);
    connection_.reset();
}

void Link::listen(Instant now) {
    listener_due_ = no_instant;
    listener_ = std::make_unique<Listener>(connection_->address(), context_, channel_,
                                           Handshake::Peer::server, now);
}

void Link::work_listener(Instant now) {
    if (!listener_) {
        if (connection_ && now >= listener_due_) listen(now);
        return;
    }
    const bool was_listening = listener_->is_listening();
    listener_->work(polled_, now);
    const auto where = to_text(listener_->address()) + ": ";
    if (const auto& reason = listener_->lost()) {
        // When both connections to a server break, one log line is enough.
        if (connection_ && (!listen_error_ || listen_error_->context() != reason->context())) {
            listen_error_ = reason;
            context_.log(LogLevel::warning,
                         where + "cannot subscribe to notifications: " + reason->context());
        }
        listener_due_ = now + listener_backoff_.next();
        listener_.reset();
        further_channels_->closed();
    } else if (!was_listening && listener_->is_listening()) {
        listener_backoff_.reset();
        if (std::exchange(listen_error_, std::nullopt)) {
            context_.log(LogLevel::info, where + "subscribed to notifications again");
        }
    }
}

/// Calls the callbacks of finished calls. No lock is held meanwhile.
void Link::report_results() {
    if (finished_.empty()) return;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& call : finished_) unanswered_ -= call.joined;
    }
    reporting_.swap(finished_);
    for (auto& call : reporting_) call.done(std::move(call.result));
    process_.require_at_return();
    reporting_.clear();
}

void Link::publish_status() {
    const std::lock_guard lock{mutex_};
    last_error_ = connector_.last_error();
    permanent_failure_ = connector_.is_permanent_failure();
    if (permanent_failure_) status_changed_.notify_all();
}

/// How long to sleep, in milliseconds. From this call on, `send` must wake the loop.
int Link::poll_timeout(Instant now) {
    auto due = connector_.due();
    if (connection_) due = std::min({due, connection_->due(), master_watch_.due()});
    if (listener_) due = std::min(due, listener_->due());
    if (connection_ && !listener_) due = std::min(due, listener_due_);
    for (const auto* queue : {&retries_, &waiting_}) {
        if (queue->empty()) continue;
        due = std::min(due, queue->front().deadline);
        if (slot_moving_) due = std::min(due, send_due_);
    }
    if (due <= now) return 0;
    const std::lock_guard lock{mutex_};
    if (!submitted_.empty() || stopping_) return 0;
    sleeping_ = true;
    if (due == no_instant) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
    return static_cast<int>(std::min<decltype(left)>(left, INT_MAX));
}

void Link::end() {
    const Error cancelled{Errc::cancelled, "the store was closed"};
    if (connection_) {
        connection_->lose(cancelled);
        collect(connection_->output(), Instant::min());
    }
    for (auto* queue : {&retries_, &waiting_}) {
        for (auto& pending : *queue) {
            finished_.emplace_back(std::move(pending.call), cancelled);
        }
        queue->clear();
    }
    report_results();
    listener_.reset();
    further_channels_->closed();
    connection_.reset();
}

}  // namespace routemaster::redis
