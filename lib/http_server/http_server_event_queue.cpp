#include "http_server_event_queue.hpp"

#include <sys/eventfd.h>

#include <utility>

#include "core/system/patience.hpp"
#include "http_server_connection.hpp"
#include "http_server_response.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {
namespace {

/// The event queue of the loop that runs on the current thread.
constinit thread_local const EventQueue* own_queue = nullptr;

HttpResponse budget_exhausted() {
    return own_answer(503, "too many responses wait for their clients");
}

}  // namespace

EventQueue::EventQueue(std::shared_ptr<AnswerBudget> answers)
    : answers_{std::move(answers)}, wake_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
    if (!wake_) throw Failure{{Errc::unavailable, "http server: no file descriptor left"}};
}

template <class Put>
void EventQueue::post_with(Put put) {
    {
        const std::lock_guard lock{mutex_};
        if (closed_) return;
        put(events_);
        if (std::exchange(has_events_, true)) return;
    }
    eventfd_write(wake_.get(), 1);
}

std::unique_lock<std::mutex> EventQueue::begin_turn(Send send) {
    own_queue = this;
    std::unique_lock turn{turn_};
    send_ = std::move(send);
    return turn;
}

bool EventQueue::has_events() {
    const std::lock_guard lock{mutex_};
    return has_events_;
}

bool EventQueue::is_read_here() const noexcept { return own_queue == this; }

/// Sends a response on the calling thread, if the loop sleeps. Returns false if the loop is awake,
/// or must send the response itself.
bool EventQueue::send_in_its_turn(QueuedResponse& answer) {
    if (is_read_here() || has_events()) return false;
    const std::unique_lock turn{turn_, std::try_to_lock};
    return turn && send_ && send_(answer);
}

void EventQueue::post(QueuedResponse answer) {
    if (!process_.is_this()) return;
    if (send_in_its_turn(answer)) return;
    // Retries if memory is short, because a connection without its response would wait forever.
    with_patience(
        [&] { post_with([&](Events& events) { events.responses.push_back(std::move(answer)); }); });
}

void EventQueue::post(FileDescriptor client) {
    post_with([&](Events& events) { events.clients.push_back(std::move(client)); });
}

void EventQueue::wake() {
    post_with([](Events&) {});
}

void EventQueue::evict() {
    post_with([](Events& events) { ++events.evictions; });
}

void EventQueue::stop(std::chrono::steady_clock::time_point deadline) {
    post_with([&](Events& events) { events.stop_at = deadline; });
}

void EventQueue::take(Events& events) {
    const std::lock_guard lock{mutex_};
    std::swap(events, events_);
    has_events_ = false;
}

void EventQueue::close(Events& events) {
    const std::lock_guard lock{mutex_};
    std::swap(events, events_);
    closed_ = true;
    send_ = nullptr;
}

Responder::~Responder() {
    if (used_.load(std::memory_order_acquire)) return;
    deliver({connection_, {}, true});
}

void Responder::answer(HttpResponse response) {
    if (used_.exchange(true, std::memory_order_acq_rel)) return;
    QueuedResponse answer{connection_, std::move(response)};
    charge(answer);
    deliver(std::move(answer));
}

bool Responder::reserve(std::size_t bytes) {
    if (used_.load(std::memory_order_acquire)) return false;
    if (memory_.resize(bytes)) return true;
    used_.store(true, std::memory_order_release);
    deliver({connection_, budget_exhausted(), false, true});
    return false;
}

/// Reserves memory for a large response, before the response waits for the loop and for the client.
/// Counts its capacity, because a string that has grown may use twice its size.
void Responder::charge(QueuedResponse& answer) {
    auto memory = std::move(memory_);
    auto& response = answer.response;
    if (response.body.size() <= small_body_max && !response.rest) return;
    const auto bytes = response.body.capacity() + response.rest_bytes;
    if (!memory.resize(bytes)) {
        if (refusable_) {
            response = budget_exhausted();
            answer.refused = true;
            return;
        }
        memory.resize_anyway(bytes);
    }
    answer.memory = std::move(memory);
}

void Responder::deliver(QueuedResponse answer) {
    // Inside the handler of this request, and thus on the loop's thread, no event is needed.
    if (Connection::handled_here == connection_) {
        connection_->take(std::move(answer));
    } else {
        queue_->post(std::move(answer));
    }
}

}  // namespace routemaster::detail
