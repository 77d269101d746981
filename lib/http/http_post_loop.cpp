#include "http_post_loop.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <iterator>
#include <new>
#include <system_error>

#include "core/store/completion_guard.hpp"
#include "core/system/thread.hpp"
#include "shortage.hpp"

namespace routemaster::detail {

namespace {

/// Copy of `sched_attr` in <linux/sched/types.h>, because this header conflicts with <sched.h>.
struct SchedulingAttributes {
    std::uint32_t size = sizeof(SchedulingAttributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t slice_ns = 0;
    std::uint64_t deadline_ns = 0;
    std::uint64_t period_ns = 0;
};

/// Sets the lowest priority for this thread and the threads that it starts. On Linux, niceness is
/// per thread. Errors are ignored, because priority is only an optimisation.
void take_lowest_priority() {
    constexpr int greatest_niceness = 19;
    (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), greatest_niceness);
    // Niceness does not shorten the time slice of a running thread. Since Linux 6.12, a waking
    // thread with a shorter slice preempts a running thread with a longer slice. The default slice
    // is at most 3 ms.
    constexpr std::chrono::nanoseconds long_slice = std::chrono::milliseconds{4};
    constexpr std::uint64_t keep_policy = 0x08;
    SchedulingAttributes attributes;
    attributes.flags = keep_policy;
    attributes.nice = greatest_niceness;
    attributes.slice_ns = static_cast<std::uint64_t>(long_slice.count());
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/// If more requests than this began recently, the loop no longer lends its thread to the polls of
/// another object (`SpareThread`), because two threads are then faster than one. With a limit of
/// four, 16 subscribers got 8 % fewer batches per second.
constexpr std::size_t busy_above = 1;

/// Delay before the next start, after the process had no descriptor left.
constexpr std::chrono::milliseconds between_starts{100};

Error cancelled() { return {Errc::cancelled, "the transport was closed"}; }

std::optional<Target> proxy_of(const HttpTransportOptions& options) {
    if (options.proxy.empty()) return std::nullopt;
    return target_of(options.proxy).value();
}

/// The connect timeout includes the lookup.
Duration name_timeout(const HttpTransportOptions& options) {
    return std::min(options.connect_timeout, options.total_timeout);
}

}  // namespace

HttpPostLoop::HttpPostLoop(HttpTransportOptions options, Priority priority)
    : options_{std::move(options)},
      proxy_{proxy_of(options_)},
      nameless_{name_timeout(options_)},
      begun_at_{Clock::now()},
      posts_{std::make_unique<HttpPosts>(options_, machine_, waker_)},
      resolver_{{.timeout = name_timeout(options_)},
                [this](const std::string& name, const Result<Addresses>& addresses) {
                    std::unique_lock lock{mutex_};
                    found_.emplace_back(name, addresses);
                    wake(std::move(lock));
                }},
      thread_{start_thread([this, priority] {
          if (priority == Priority::lowest) take_lowest_priority();
          run();
      })} {}

HttpPostLoop::~HttpPostLoop() {
    require_outside_completion("HTTP transport");
    std::unique_lock lock{mutex_};
    stopping_ = true;
    stop_.notify_all();
    wake(std::move(lock));
    join_outside(thread_, "HTTP transport", "a completion");
}

void HttpPostLoop::submit(PostRequest request) {
    std::unique_lock lock{mutex_};
    if (stopping_) {
        lock.unlock();
        return finish(request, cancelled());
    }
    submitted_.push_back(std::move(request));
    wake(std::move(lock));
}

bool HttpPostLoop::lend(std::function<void()> turn) {
    const std::lock_guard lock{mutex_};
    if (turn_) return false;
    turn_ = std::move(turn);
    return true;
}

void HttpPostLoop::take_back() {
    std::unique_lock lock{mutex_};
    turn_ended_.wait(lock, [this] { return !in_turn_; });
    turn_requested_ = false;
    turn_ = nullptr;
}

bool HttpPostLoop::request_turn() {
    std::unique_lock lock{mutex_};
    if (!turn_ || stopping_ || trouble_ || Clock::now() < busy_until_) return false;
    turn_requested_ = true;
    wake(std::move(lock));
    return true;
}

/// Wakes the loop if it sleeps. Unlocks the mutex first, because the woken thread needs it.
void HttpPostLoop::wake(std::unique_lock<std::mutex> lock) {
    const bool asleep = std::exchange(sleeping_, false);
    lock.unlock();
    if (asleep) waker_.wake();
}

std::optional<std::string> HttpPostLoop::trouble() const {
    {
        const std::lock_guard lock{mutex_};
        if (trouble_) return trouble_;
    }
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return "no socket: " + std::generic_category().message(errno);
    close(socket);
    return std::nullopt;
}

void HttpPostLoop::run() {
    // The object that borrows this thread is polled first, because it may submit requests.
    for (take_turns(); take_submitted(); take_turns()) {
        end_overdue();
        admit_starved();
        start_waiting();
        posts_->advance();
        put_back_starved();
        if (!posts_->trouble()) posts_->wait(timeout());
        if (posts_->trouble()) begin_anew();
    }
    cancel_all();
}

/// Runs the requested polls of the object that borrows this thread. Stops when a poll has submitted
/// a request, because the loop must begin this request before the next poll.
void HttpPostLoop::take_turns() {
    std::unique_lock lock{mutex_};
    while (submitted_.empty() && std::exchange(turn_requested_, false)) {
        in_turn_ = true;
        sleeping_ = false;
        lock.unlock();
        turn_();
        lock.lock();
        in_turn_ = false;
        turn_ended_.notify_all();
    }
}

/// Admits the submitted requests. Returns false if the loop must end.
bool HttpPostLoop::take_submitted() {
    std::vector<Found> found_names;
    bool stopping = false;
    {
        const std::lock_guard lock{mutex_};
        sleeping_ = false;
        taken_.swap(submitted_);
        found_names.swap(found_);
        stopping = stopping_ || posts_ == nullptr;
        if (!stopping) note_whether_busy(waiting_.size() + taken_.size());
    }
    for (const auto& [name, addresses] : found_names) found(name, addresses);
    for (auto& request : taken_) admit(std::move(request));
    taken_.clear();
    return !stopping;
}

/// Updates `busy_until_`. The caller must have locked the mutex. `beginning` requests are about to
/// begin.
void HttpPostLoop::note_whether_busy(std::size_t beginning) {
    const bool busy = posts_->recent() + beginning > busy_above;
    busy_until_ = busy ? Clock::now() + HttpPosts::recent_for : Clock::time_point{};
}

const Result<Target>& HttpPostLoop::target(const std::string& url) {
    constexpr std::size_t targets_max = 4'096;
    const auto known = targets_.find(url);
    if (known != targets_.end()) return known->second;
    if (targets_.size() >= targets_max) targets_.clear();
    return targets_.emplace(url, target_of(url)).first->second;
}

/// Encodes the body if necessary, and queues the request, after the lookup of its host.
void HttpPostLoop::admit(PostRequest request) {
    try {
        if (request.body.json.empty()) {
            request.body = delivery_body(std::exchange(request.messages, {}));
        }
    } catch (const std::bad_alloc&) {
        return finish(request, Error{Errc::unavailable, "out of memory"});
    }
    const Result<Target>& callback = target(request.url);
    if (!callback) {
        finish(request, Error{callback.error().code(), "callback: " + callback.error().context()});
        return;
    }
    if (proxy_ && !options_.allow_loopback && machine_.has_host(callback->host)) {
        finish(request,
               Error{Errc::invalid, "callback: " + callback->host + " leads back to this machine"});
        return;
    }
    request.parsed = callback->parsed;
    const Target& peer = proxy_ ? *proxy_ : *callback;
    if (!peer.is_name) {
        waiting_.push_back(std::move(request));
        return;
    }
    // The plus sign makes the entry in libcurl's DNS cache expire.
    request.resolve = "+" + peer.host + ":" + peer.port + ":";
    if (const auto known = resolver_.look_up(peer.host)) {
        proceed(std::move(request), *known);
    } else {
        nameless_.push(peer.host, std::move(request));
    }
}

void HttpPostLoop::found(const std::string& name, const Result<Addresses>& addresses) {
    for (auto& request : nameless_.take(name)) proceed(std::move(request), addresses);
}

void HttpPostLoop::proceed(PostRequest request, const Result<Addresses>& addresses) {
    if (!addresses) {
        const auto& error = addresses.error();
        if (!is_shortage(error.code())) return finish(request, error);
        const auto now = Clock::now();
        if (!may_starve(request, now)) {
            return finish(
                request, Error{Errc::unavailable, error.context() + ": " + error.code().message()});
        }
        // If the lookup could not begin, its time does not count for the timeouts.
        request.has_waited = Duration{0};
        if (unresolved_.empty()) unresolved_until_ = now + between_starts;
        unresolved_.push_back(std::move(request));
        return;
    }
    request.resolve += **addresses;
    waiting_.push_back(std::move(request));
}

void HttpPostLoop::end_overdue() {
    while (auto overdue = nameless_.take_overdue()) {
        finish(overdue->second, Error{Errc::timed_out, "resolving " + overdue->first});
    }
}

bool HttpPostLoop::can_start() const {
    return !waiting_.empty() && posts_->size() < options_.in_flight_max && !is_starved();
}

/// Whether no POST can start, because the process had no socket, and no POST has ended since.
bool HttpPostLoop::is_starved() const {
    return posts_->size() >= starved_size_ && Clock::now() < starved_until_;
}

/// Whether a request may wait for a descriptor; otherwise it fails.
bool HttpPostLoop::may_starve(PostRequest& request, Clock::time_point now) {
    if (!request.starves_until) request.starves_until = now + options_.total_timeout;
    return now < *request.starves_until;
}

/// Retries the lookups for which the process had no descriptor.
void HttpPostLoop::admit_starved() {
    if (unresolved_.empty() || Clock::now() < unresolved_until_) return;
    for (auto& request : std::exchange(unresolved_, {})) admit(std::move(request));
}

/// Queues again the requests for which the process had no socket. The receiver has not failed, so
/// the deliveries must not fail.
void HttpPostLoop::put_back_starved() {
    auto starved = posts_->take_starved();
    if (starved.empty()) return;
    const auto now = Clock::now();
    starved_until_ = now + between_starts;
    starved_size_ = posts_->size();
    std::vector<PostRequest> again;
    for (auto& [request, error] : starved) {
        if (may_starve(request, now)) {
            again.push_back(std::move(request));
        } else {
            finish(request, std::move(error));
        }
    }
    waiting_.insert(waiting_.begin(), std::make_move_iterator(again.begin()),
                    std::make_move_iterator(again.end()));
}

/// Starts few requests per iteration, because opening many connections at once would delay the
/// processing of responses.
void HttpPostLoop::start_waiting() {
    constexpr int starts_per_turn = 4;
    for (int started = 0; started < starts_per_turn && can_start(); ++started) {
        PostRequest request = std::move(waiting_.front());
        waiting_.pop_front();
        posts_->start(std::move(request));
    }
}

/// Returns how long to sleep, in milliseconds; -1: without a timeout. If the result is not 0, marks
/// the loop as sleeping, so that `wake` writes to its eventfd.
int HttpPostLoop::timeout() {
    const auto now = Clock::now();
    auto due = posts_->due();
    if (const auto overdue = nameless_.due()) due = due ? std::min(*due, *overdue) : overdue;
    if (!unresolved_.empty()) due = due ? std::min(*due, unresolved_until_) : unresolved_until_;
    if (!waiting_.empty() && is_starved())
        due = due ? std::min(*due, starved_until_) : starved_until_;
    if (can_start() || (due && *due <= now)) return 0;
    const std::lock_guard lock{mutex_};
    if (!submitted_.empty() || !found_.empty() || turn_requested_ || stopping_) return 0;
    note_whether_busy(0);
    sleeping_ = true;
    if (!due) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - now).count();
    return static_cast<int>(std::min<decltype(left)>(left, INT_MAX));
}

/// Fails the requests in flight, and replaces `posts_`. Retries until this succeeds or the loop
/// must end. Meanwhile new requests are queued.
void HttpPostLoop::begin_anew() {
    constexpr std::chrono::seconds between_attempts{1};
    const Error broken{Errc::unavailable,
                       "the HTTP transport broke down: " + posts_->trouble()->context()};
    if (options_.log) options_.log(LogLevel::error, broken.context() + "; it restarts");
    posts_->end_all(broken);
    std::unique_ptr<HttpPosts> gone;
    {
        const std::lock_guard lock{mutex_};
        trouble_ = broken.context();
        sleeping_ = false;
        gone = std::move(posts_);
    }
    gone.reset();
    // Runs a poll that was requested earlier. Otherwise the poll would wait until `posts_` is
    // replaced. While `trouble_` is set, no further poll can be requested.
    take_turns();
    while (pause_until(begun_at_ + between_attempts)) {
        begun_at_ = Clock::now();
        try {
            auto fresh = std::make_unique<HttpPosts>(options_, machine_, waker_);
            const std::lock_guard lock{mutex_};
            posts_ = std::move(fresh);
            trouble_.reset();
            return;
        } catch (const Failure& failure) {
            const std::lock_guard lock{mutex_};
            trouble_ = "the HTTP transport cannot restart: " + failure.error().context();
        }
    }
}

/// Returns false if the loop must end.
bool HttpPostLoop::pause_until(Clock::time_point end) {
    std::unique_lock lock{mutex_};
    return !stop_.wait_until(lock, end, [&] { return stopping_; });
}

void HttpPostLoop::cancel_all() {
    if (posts_) posts_->end_all(cancelled());
    for (auto& request : nameless_.take_all()) finish(request, cancelled());
    for (auto& request : unresolved_) finish(request, cancelled());
    unresolved_.clear();
    for (auto& request : waiting_) finish(request, cancelled());
    waiting_.clear();
}

}  // namespace routemaster::detail
