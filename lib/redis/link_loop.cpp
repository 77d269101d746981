#include "link_loop.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "routemaster/completion_thread.hpp"
#include "routemaster/entropy.hpp"

namespace routemaster::redis {

namespace {

/// Starts a thread that leaves all signals to the application's own threads. SIGPIPE thereby
/// becomes the error of the write that caused it.
template <class Function>
std::thread thread_without_signals(Function function) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread thread{std::move(function)};
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return thread;
    } catch (const std::system_error& error) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw Failure{{Errc::unavailable, std::string{"thread: "} + error.what()}};
    }
}

}  // namespace

LinkLoop::LinkLoop(LinkContext context, Channel channel)
    : context_{std::move(context)},
      channel_{std::move(channel)},
      search_{context_, entropy()},
      master_watch_{context_, entropy()},
      errands_{context_},
      listener_backoff_{entropy()} {
    thread_ = thread_without_signals([this] { run(); });
}

LinkLoop::~LinkLoop() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    context_.dial.waker->wake();
    thread_.join();
}

void LinkLoop::send(std::span<Call> calls) {
    std::size_t accepted = 0;
    bool wake = false;
    bool stopping = false;
    {
        const std::lock_guard lock{mutex_};
        stopping = stopping_;
        if (!stopping) {
            accepted = std::min(calls.size(), context_.options.waiting_max - under_way_);
            under_way_ += accepted;
            const auto begin = std::make_move_iterator(calls.begin());
            inbox_.insert(inbox_.end(), begin, begin + static_cast<std::ptrdiff_t>(accepted));
            wake = std::exchange(sleeping_, false);
        }
    }
    if (wake) context_.dial.waker->wake();
    for (auto& call : calls.subspan(accepted)) {
        call.done(stopping ? Error{Errc::cancelled, "the store was closed"}
                           : Error{Errc::unavailable, "too many steps wait"});
    }
}

Result<void> LinkLoop::wait_until_connected(Duration patience) {
    std::unique_lock lock{mutex_};
    connected_.wait_for(lock, patience, [this] { return was_connected_ || is_hopeless_; });
    if (was_connected_) return {};
    return obstacle_;
}

void LinkLoop::run() {
    const CompletionThread marked;
    auto now = Steady::now();
    while (take_inbox(now)) {
        pour(now);
        deliver();
        polled_.clear();
        polled_.add(context_.dial.waker->descriptor(), POLLIN);
        search_.watch(polled_);
        if (carrier_) {
            carrier_->watch(polled_);
            master_watch_.watch(polled_);
        }
        errands_.watch(polled_);
        if (listener_) listener_->watch(polled_);
        polled_.wait(patience(now));
        if (polled_.ready(context_.dial.waker->descriptor()) != 0) context_.dial.waker->rest();
        now = Steady::now();
        work(now);
        deliver();
    }
    end();
}

/// Moves what was sent to where it waits for a connection. False when the loop shall end.
bool LinkLoop::take_inbox(Instant now) {
    bool stopping = false;
    {
        const std::lock_guard lock{mutex_};
        sleeping_ = false;
        taken_.swap(inbox_);
        stopping = stopping_;
    }
    const auto deadline = now + context_.options.timeout;
    for (auto& call : taken_) waiting_.push_back({.call = std::move(call), .deadline = deadline});
    taken_.clear();
    return !stopping;
}

/// Gives the carrier what waits for it, as much as it takes, and gives up what waited too long.
void LinkLoop::pour(Instant now) {
    for (auto* queue : {&again_, &waiting_}) {
        while (!queue->empty() && queue->front().deadline <= now) {
            answers_.push_back(
                {std::move(queue->front().call.done), Error{Errc::unavailable, why()}});
            queue->pop_front();
        }
        while (!queue->empty() && carrier_ && carrier_->is_open()) {
            carrier_->send(std::move(queue->front()), now);
            queue->pop_front();
        }
    }
    if (carrier_) carrier_->flush();
}

/// Why a call could not be sent.
std::string LinkLoop::why() const {
    if (!carrier_) return search_.obstacle().context();
    return "redis " + to_text(carrier_->address()) + ": takes no more";
}

void LinkLoop::work(Instant now) {
    if (auto carrier = search_.work(polled_, now)) found(std::move(carrier), now);
    if (carrier_) work_carrier(now);
    errands_.work(polled_, now);
    collect(errands_.yield());
    work_listener(now);
    if (!carrier_) tell_status();
}

void LinkLoop::work_carrier(Instant now) {
    if (const auto master = master_watch_.work(carrier_->address(), polled_, now)) {
        carrier_->leave({Errc::unavailable, "the master is " + to_text(*master) + " now"});
        // The other sentinels may not know it yet.
        search_.prefer(master_watch_.sentinel());
    }
    carrier_->work(polled_, now);
    collect(carrier_->yield());
    if (carrier_->state() == Carrier::State::lost) lost(now);
}

void LinkLoop::collect(Carrier::Yield& yield) {
    std::move(yield.answers.begin(), yield.answers.end(), std::back_inserter(answers_));
    std::move(yield.again.begin(), yield.again.end(), std::back_inserter(again_));
    for (auto& [address, pending] : yield.asked) errands_.add(address, std::move(pending));
    yield.answers.clear();
    yield.again.clear();
    yield.asked.clear();
}

void LinkLoop::found(std::unique_ptr<Carrier> carrier, Instant now) {
    carrier_ = std::move(carrier);
    auto line = to_text(carrier_->address()) + ": connected";
    if (lost_at_) {
        const auto away = std::chrono::duration_cast<Duration>(now - *lost_at_);
        line += " again, after " + std::to_string(away.count()) + " ms";
    }
    context_.log(LogLevel::info, line);
    master_watch_.check();
    // Where the calls go is where the messages come from; and when one connection broke, the other
    // may be as dead without showing it.
    listen(now);
    const std::lock_guard lock{mutex_};
    was_connected_ = true;
    connected_.notify_all();
}

void LinkLoop::lost(Instant now) {
    lost_at_ = now;
    const bool moved = carrier_->elsewhere().has_value();
    context_.log(
        moved ? LogLevel::info : LogLevel::warning,
        to_text(carrier_->address()) + ": connection given up: " + carrier_->reason().context());
    search_.begin(*carrier_, now);
    carrier_.reset();
}

void LinkLoop::listen(Instant now) {
    listener_due_ = no_instant;
    listener_ = std::make_unique<Listener>(carrier_->address(), context_, channel_,
                                           Handshake::Peer::server, now);
}

void LinkLoop::work_listener(Instant now) {
    if (!listener_) {
        if (carrier_ && now >= listener_due_) listen(now);
        return;
    }
    const bool was_listening = listener_->is_listening();
    listener_->work(polled_, now);
    const auto where = to_text(listener_->address()) + ": ";
    if (const auto& reason = listener_->lost()) {
        // One connection tells of a server that is gone; the other need not.
        if (carrier_ && (!deaf_ || deaf_->context() != reason->context())) {
            deaf_ = reason;
            context_.log(LogLevel::warning, where + "cannot listen: " + reason->context());
        }
        listener_due_ = now + listener_backoff_.next();
        listener_.reset();
    } else if (!was_listening && listener_->is_listening()) {
        listener_backoff_.reset();
        if (std::exchange(deaf_, std::nullopt)) {
            context_.log(LogLevel::info, where + "listening again");
        }
    }
}

/// Tells the answers, without any lock.
void LinkLoop::deliver() {
    if (answers_.empty()) return;
    {
        const std::lock_guard lock{mutex_};
        under_way_ -= answers_.size();
    }
    told_.swap(answers_);
    for (auto& [done, answer] : told_) done(std::move(answer));
    told_.clear();
}

void LinkLoop::tell_status() {
    const std::lock_guard lock{mutex_};
    obstacle_ = search_.obstacle();
    is_hopeless_ = search_.is_hopeless();
    if (is_hopeless_) connected_.notify_all();
}

/// How long to sleep, in milliseconds, and from then on `send` has to wake the loop.
int LinkLoop::patience(Instant now) {
    auto due = std::min(search_.due(), errands_.due());
    if (carrier_) due = std::min({due, carrier_->due(), master_watch_.due()});
    if (listener_) due = std::min(due, listener_->due());
    if (carrier_ && !listener_) due = std::min(due, listener_due_);
    for (const auto* queue : {&again_, &waiting_}) {
        if (!queue->empty()) due = std::min(due, queue->front().deadline);
    }
    if (due <= now) return 0;
    const std::lock_guard lock{mutex_};
    if (!inbox_.empty() || stopping_) return 0;
    sleeping_ = true;
    if (due == no_instant) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
    return static_cast<int>(std::min<decltype(left)>(left, INT_MAX));
}

void LinkLoop::end() {
    const Error cancelled{Errc::cancelled, "the store was closed"};
    if (carrier_) {
        carrier_->lose(cancelled);
        collect(carrier_->yield());
    }
    errands_.lose(cancelled);
    collect(errands_.yield());
    for (auto* queue : {&again_, &waiting_}) {
        for (auto& pending : *queue) {
            answers_.push_back({std::move(pending.call.done), cancelled});
        }
        queue->clear();
    }
    deliver();
    listener_.reset();
    carrier_.reset();
}

}  // namespace routemaster::redis
