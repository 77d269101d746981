#include "http_posts.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <climits>
#include <system_error>
#include <utility>

namespace routemaster::detail {

namespace {

Error libcurl_error(const char* text) {
    return {Errc::unavailable, std::string{"libcurl: "} + text};
}

/// Initialises libcurl once per process. Never cleans it up, because other code may use libcurl.
void require_libcurl() {
    static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) throw Failure{libcurl_error(curl_easy_strerror(code))};
}

void require(CURLMcode code) {
    if (code != CURLM_OK) throw Failure{libcurl_error(curl_multi_strerror(code))};
}

}  // namespace

void finish(PostRequest& request, Result<void> outcome, bool permanent) {
    request.done({.outcome = std::move(outcome),
                  .undecodable = request.body.undecodable,
                  .permanent = permanent});
}

HttpPosts::HttpPosts(const HttpTransportOptions& options, ThisMachine& machine, const Waker& waker)
    : options_{options}, machine_{machine}, watch_{waker} {
    require_libcurl();
    multi_.reset(curl_multi_init());
    if (!multi_) throw Failure{libcurl_error("out of memory")};
    const auto kept =
        static_cast<long>(std::min<std::size_t>(options_.connections_kept_max, INT_MAX));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, kept));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &HttpPosts::watch_socket));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &HttpPosts::set_timer));
    require(curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this));
}

HttpPosts::~HttpPosts() {
    // The order matters: easy handles refer to the multi handle, and its connections refer to
    // `watch_`.
    all_.clear();
    multi_.reset();
}

std::size_t HttpPosts::recent() {
    const auto since = Clock::now() - recent_for;
    while (!recent_.empty() && recent_.front().first < since) recent_.pop_front();
    return recent_.size();
}

void HttpPosts::start(PostRequest request) {
    try {
        if (idle_.empty()) {
            all_.push_back(std::make_unique<HttpPost>(options_, machine_, budget_));
            idle_.push_back(all_.back().get());
        }
    } catch (const Failure& failure) {
        finish(request, failure.error());
        return;
    }
    HttpPost& post = *idle_.back();
    post.begin(std::move(request));
    const CURLMcode code = curl_multi_add_handle(multi_.get(), post.handle());
    if (code != CURLM_OK) {
        PostRequest refused = post.take();
        return finish(refused, libcurl_error(curl_multi_strerror(code)));
    }
    idle_.pop_back();
    recent_.emplace_back(Clock::now(), &post);
    deadlines_.emplace(post.deadline(), &post);
}

void HttpPosts::act(curl_socket_t socket, int events) {
    int running = 0;
    budget_.refill();
    const CURLMcode code = curl_multi_socket_action(multi_.get(), socket, events, &running);
    // libcurl may have closed the socket in the meantime, which is harmless.
    if (code == CURLM_OK || code == CURLM_BAD_SOCKET) return;
    trouble_ = libcurl_error(curl_multi_strerror(code));
}

void HttpPosts::advance() {
    // libcurl 7.88 closes the socket of an address that refused, or whose share of the timeout has
    // passed. The next call of libcurl would connect to the next address. But libcurl schedules
    // this call only for the time at which the next address would time out. `nudge` schedules it
    // for now.
    for (const auto* post : std::exchange(without_socket_, {})) {
        if (post->is_connecting()) post->nudge();
    }
    write_pauses_.advance();
    act_if_due();
    end_completed();
    end_overdue();
    for (auto& [post, error] : unwatched_) {
        if (post->is_busy()) end(*post, std::move(error));
    }
    unwatched_.clear();
    report();
}

bool HttpPosts::act_if_due() {
    if (!timer_ || *timer_ > Clock::now()) return false;
    timer_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
    return true;
}

/// Reads all messages before any POST is removed, because libcurl searches the unread messages on
/// each removal of a handle.
void HttpPosts::end_completed() {
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        HttpPost* post = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &post);
        ended_.emplace_back(post, post->outcome(message->data.result));
    }
    std::erase_if(ended_, [this](auto& all) {
        auto& [post, outcome] = all;
        if (outcome || !post->is_starved()) return false;
        starved_.push_back({remove(*post), outcome.error()});
        return true;
    });
    for (auto& [post, outcome] : ended_) end(*post, std::move(outcome));
    ended_.clear();
}

/// Makes libcurl read everything that the socket of `post` has received. libcurl reads one buffer
/// per call. Over HTTP/2, libcurl also buffers data, even of other POSTs, and sets its timer to
/// process them, although the socket is then empty.
void HttpPosts::read_what_came(const HttpPost& post) {
    constexpr int rounds_max = 16;
    for (int round = 0; round < rounds_max; ++round) {
        const bool unread = post.has_unread();
        if (unread) act(post.socket(), CURL_CSELECT_IN);
        if (!act_if_due() && !unread) return;
    }
}

/// Ends few POSTs per iteration, because responses that have arrived wait meanwhile. Reads the
/// sockets first: on a busy machine, or after a long iteration, a response that is not yet read may
/// have arrived in time. libcurl itself would end all overdue transfers at once, without reading.
void HttpPosts::end_overdue() {
    constexpr int ends_per_turn = 4;
    const auto now = Clock::now();
    for (int looked_at = 0; looked_at < ends_per_turn; ++looked_at) {
        if (deadlines_.empty() || deadlines_.begin()->first > now) return;
        HttpPost& post = *deadlines_.begin()->second;
        read_what_came(post);
        end_completed();
        if (!post.is_busy()) continue;
        deadlines_.erase({post.deadline(), &post});
        if (post.extend()) {
            deadlines_.emplace(post.deadline(), &post);
        } else {
            end(post, post.overdue());
        }
    }
}

void HttpPosts::end(HttpPost& post, Result<void> outcome) {
    const bool permanent = !outcome && post.permanent();
    unreported_.push_back({remove(post), std::move(outcome), permanent});
}

PostRequest HttpPosts::remove(HttpPost& post) {
    curl_multi_remove_handle(multi_.get(), post.handle());
    deadlines_.erase({post.deadline(), &post});
    PostRequest request = post.take();
    idle_.push_back(&post);
    std::erase_if(recent_, [&post](const auto& any) { return any.second == &post; });
    return request;
}

std::vector<HttpPosts::Starved> HttpPosts::take_starved() {
    if (starved_.empty()) return {};
    for (const auto& post : all_) {
        if (post->is_busy()) post->forbid_reuse();
    }
    return std::exchange(starved_, {});
}

/// Reports all ended POSTs together, so that the dispatcher is woken less often.
void HttpPosts::report() {
    for (auto& [request, outcome, permanent] : unreported_) {
        finish(request, std::move(outcome), permanent);
    }
    unreported_.clear();
}

void HttpPosts::wait(int milliseconds) {
    const auto error = watch_.wait(milliseconds, [this](int socket, std::uint32_t events) {
        const bool failed = (events & (EPOLLERR | EPOLLHUP)) != 0;
        if ((events & EPOLLOUT) != 0) write_pauses_.writable(socket);
        act(socket, ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                        ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                        (failed ? CURL_CSELECT_ERR : 0));
    });
    if (error) trouble_ = Error{Errc::unavailable, "epoll: " + error.message()};
}

void HttpPosts::end_all(const Error& error) {
    for (const auto& post : all_) {
        if (post->is_busy()) end(*post, error);
    }
    report();
}

/// Callback of libcurl. It must not return an error, because libcurl would then end all transfers.
int HttpPosts::watch_socket(CURL* handle, curl_socket_t socket, int what, void* self, void*) {
    HttpPosts& posts = *static_cast<HttpPosts*>(self);
    std::uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
    HttpPost* post = nullptr;  // Null for an internal handle of libcurl, which closes a connection.
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &post);
    if (post != nullptr && events != 0) post->goes_over(socket);
    if (post != nullptr && what == CURL_POLL_REMOVE && post->is_connecting()) {
        posts.without_socket_.push_back(post);
    }
    posts.write_pauses_.changed(socket, what == CURL_POLL_INOUT);
    const auto refused = posts.watch_.want(socket, events);
    if (refused && post != nullptr) {
        posts.unwatched_.emplace_back(
            post, Error{Errc::unavailable,
                        "cannot watch the socket of a delivery: " + refused.message()});
    }
    return 0;
}

int HttpPosts::set_timer(CURLM*, long milliseconds, void* self) {
    HttpPosts& posts = *static_cast<HttpPosts*>(self);
    posts.timer_.reset();
    if (milliseconds >= 0) posts.timer_ = Clock::now() + std::chrono::milliseconds{milliseconds};
    return 0;
}

}  // namespace routemaster::detail
