#include "posting_loop.hpp"

#include <pthread.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

namespace routemaster::detail {

namespace {

/// Prepares libcurl for the whole process. It is not undone: others may use libcurl as well.
void require_libcurl() {
    static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
        throw Failure{{Errc::unavailable, std::string{"libcurl: "} + curl_easy_strerror(code)}};
    }
}

void require(CURLMcode code) {
    if (code != CURLM_OK) {
        throw Failure{{Errc::unavailable, std::string{"libcurl: "} + curl_multi_strerror(code)}};
    }
}

/// Starts a thread that leaves all signals to the application's own threads.
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

void tell(Submission& submission, Result<void> outcome, bool permanent = false) {
    submission.done({.outcome = std::move(outcome),
                     .undecodable = submission.body.undecodable,
                     .permanent = permanent});
}

Error cancelled() { return {Errc::cancelled, "the transport was closed"}; }

}  // namespace

PostingLoop::PostingLoop(HttpTransportOptions options) : options_{std::move(options)} {
    require_libcurl();
    multi_.reset(curl_multi_init());
    if (!multi_) throw Failure{{Errc::unavailable, "libcurl: out of memory"}};
    const auto kept = static_cast<long>(std::min<std::size_t>(options_.connections_max, INT_MAX));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kept));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &PostingLoop::watch_socket));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &PostingLoop::set_timer));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this));
    thread_ = thread_without_signals([this] { run(); });
}

PostingLoop::~PostingLoop() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    watch_.wake();
    thread_.join();
}

void PostingLoop::submit(Submission submission) {
    bool accepted = false;
    bool wake = false;
    {
        const std::lock_guard lock{mutex_};
        if (!stopping_) {
            inbox_.push_back(std::move(submission));
            accepted = true;
            wake = std::exchange(sleeping_, false);
        }
    }
    if (!accepted) tell(submission, cancelled());
    if (wake) watch_.wake();
}

void PostingLoop::run() {
    while (take_inbox()) {
        start_waiting();
        act_on_timer();
        reap();
        watch_.wait(patience(), [this](int socket, std::uint32_t events) {
            const bool failed = (events & (EPOLLERR | EPOLLHUP)) != 0;
            act(socket, ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                            ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                            (failed ? CURL_CSELECT_ERR : 0));
        });
    }
    cancel_all();
}

/// Moves what was submitted to where it waits for its turn. False when the loop shall end.
bool PostingLoop::take_inbox() {
    bool stopping = false;
    {
        const std::lock_guard lock{mutex_};
        sleeping_ = false;
        taken_.swap(inbox_);
        stopping = stopping_;
    }
    for (auto& submission : taken_) waiting_.push_back(std::move(submission));
    taken_.clear();
    return !stopping;
}

bool PostingLoop::can_start() const {
    return !waiting_.empty() && postings_.size() - idle_.size() < options_.connections_max;
}

void PostingLoop::start_waiting() {
    while (can_start()) {
        Submission submission = std::move(waiting_.front());
        waiting_.pop_front();
        start(std::move(submission));
    }
}

void PostingLoop::start(Submission submission) {
    try {
        if (idle_.empty()) {
            postings_.push_back(std::make_unique<Posting>(options_, watch_));
            idle_.push_back(postings_.back().get());
        }
    } catch (const Failure& failure) {
        tell(submission, failure.error());
        return;
    }
    Posting& posting = *idle_.back();
    Result<void> begun = posting.begin(std::move(submission));
    if (begun) {
        const CURLMcode code = curl_multi_add_handle(multi_.get(), posting.handle());
        if (code == CURLM_OK) {
            idle_.pop_back();
            return;
        }
        begun = Error{Errc::unavailable, std::string{"libcurl: "} + curl_multi_strerror(code)};
    }
    Submission refused = posting.take();
    tell(refused, std::move(begun));
}

void PostingLoop::act(curl_socket_t socket, int events) {
    int running = 0;
    curl_multi_socket_action(multi_.get(), socket, events, &running);
}

void PostingLoop::act_on_timer() {
    if (!timer_ || *timer_ > Clock::now()) return;
    timer_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
}

/// Reports what has ended. All messages are read first: libcurl searches those that are left
/// whenever a handle is removed.
void PostingLoop::reap() {
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        Posting* posting = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &posting);
        ended_.emplace_back(posting, posting->outcome(message->data.result));
    }
    for (auto& [posting, outcome] : ended_) {
        curl_multi_remove_handle(multi_.get(), posting->handle());
        const bool permanent = !outcome && posting->permanent();
        Submission submission = posting->take();
        idle_.push_back(posting);
        tell(submission, std::move(outcome), permanent);
    }
    ended_.clear();
}

/// How long to sleep, in milliseconds, and from then on `submit` has to wake the loop.
int PostingLoop::patience() {
    const auto now = Clock::now();
    if (can_start() || (timer_ && *timer_ <= now)) return 0;
    const std::lock_guard lock{mutex_};
    if (!inbox_.empty() || stopping_) return 0;
    sleeping_ = true;
    if (!timer_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*timer_ - now).count();
    return static_cast<int>(std::min<decltype(left)>(left, INT_MAX));
}

void PostingLoop::cancel_all() {
    for (const auto& posting : postings_) {
        if (!posting->is_busy()) continue;
        curl_multi_remove_handle(multi_.get(), posting->handle());
        Submission submission = posting->take();
        tell(submission, cancelled());
    }
    for (auto& submission : waiting_) tell(submission, cancelled());
    waiting_.clear();
    // Connections hold on to the watch, handles to the multi handle: this is the order to go.
    postings_.clear();
    multi_.reset();
}

int PostingLoop::watch_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    PostingLoop& loop = *static_cast<PostingLoop*>(self);
    std::uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
    if (loop.watch_.want(socket, events)) return 0;
    if (loop.options_.log) {
        loop.options_.log(LogLevel::error,
                          "http transport: epoll: " + std::generic_category().message(errno));
    }
    return -1;
}

int PostingLoop::set_timer(CURLM*, long milliseconds, void* self) {
    PostingLoop& loop = *static_cast<PostingLoop*>(self);
    loop.timer_.reset();
    if (milliseconds >= 0) loop.timer_ = Clock::now() + std::chrono::milliseconds{milliseconds};
    return 0;
}

}  // namespace routemaster::detail
