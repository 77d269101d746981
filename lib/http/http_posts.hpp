/// @file
/// The POSTs that are under way at once, on one libcurl multi handle.

#pragma once

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "http_post.hpp"
#include "routemaster/error.hpp"
#include "routemaster/transport/http.hpp"
#include "socket_watch.hpp"
#include "this_machine.hpp"
#include "tls_meter.hpp"

namespace routemaster::detail {

/// Drives libcurl's multi interface by its sockets: the cost of a wake-up depends on what happened,
/// not on how many POSTs are under way.
///
/// An error of one POST ends that one. `trouble` returns an error of the multi handle or the epoll
/// set; then call `end_all`, and make another object of this class.
///
/// Thread safety: one thread.
class HttpPosts {
public:
    using Clock = std::chrono::steady_clock;

    /// All must outlive it. Throws `Failure` when libcurl or epoll cannot be set up.
    HttpPosts(const HttpTransportOptions& options, ThisMachine& machine, const Waker& waker);

    /// All POSTs must have ended.
    ~HttpPosts();

    HttpPosts(const HttpPosts&) = delete;
    HttpPosts& operator=(const HttpPosts&) = delete;

    /// How many are under way.
    [[nodiscard]] std::size_t size() const noexcept { return all_.size() - idle_.size(); }

    static constexpr std::chrono::milliseconds recent_for{1};

    /// How many of them began within that time. The others have receivers that are slow or silent,
    /// and cost next to nothing while they wait.
    [[nodiscard]] std::size_t recent();

    /// Begins one. Calls its `done` once, inside this call when it cannot begin.
    void start(PostRequest request);

    /// Does what is due, and reports the POSTs that have ended.
    void advance();

    /// When to call `advance`, if nothing happens before.
    [[nodiscard]] std::optional<Clock::time_point> due() const {
        const bool now = !unwatched_.empty() || !without_socket_.empty();
        if (now) return Clock::time_point::min();
        if (deadlines_.empty()) return timer_;
        const auto first = deadlines_.begin()->first;
        return timer_ ? std::min(*timer_, first) : first;
    }

    /// Sleeps until something happens, the waker wakes, or `milliseconds` have passed (-1: no
    /// limit), and acts on it.
    void wait(int milliseconds);

    /// Why no POST can go on, if so.
    [[nodiscard]] const std::optional<Error>& trouble() const noexcept { return trouble_; }

    /// Ends all that are under way with `error`.
    void end_all(const Error& error);

private:
    struct Report {
        PostRequest request;
        Result<void> outcome;
        bool permanent;
    };
    struct Cleanup {
        void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
    };

    static int watch_socket(CURL* handle, curl_socket_t socket, int what, void* self, void*);
    static int set_timer(CURLM*, long milliseconds, void* self);

    void act(curl_socket_t socket, int events);
    bool act_if_due();
    void read_what_came(const HttpPost& post);
    void end_completed();
    void end_overdue();
    void end(HttpPost& post, Result<void> outcome);
    void report();

    const HttpTransportOptions& options_;
    ThisMachine& machine_;
    SocketWatch watch_;
    TurnBudget budget_;
    std::unique_ptr<CURLM, Cleanup> multi_;
    std::optional<Clock::time_point> timer_;      ///< When libcurl wants to be called.
    std::vector<std::unique_ptr<HttpPost>> all_;  ///< One for each that was ever under way at once.
    std::vector<HttpPost*> idle_;                 ///< Those of them that are free.
    std::deque<std::pair<Clock::time_point, const HttpPost*>> recent_;  ///< And when they began.
    std::set<std::pair<Clock::time_point, HttpPost*>> deadlines_;       ///< Of all under way.
    std::vector<std::pair<HttpPost*, Result<void>>> ended_;  ///< Being taken out by `advance`.
    std::vector<Report> unreported_;                         ///< They have ended.
    std::vector<std::pair<HttpPost*, Error>> unwatched_;     ///< Whose sockets cannot be watched.
    std::vector<HttpPost*> without_socket_;  ///< Whose address failed: they may have others.
    std::optional<Error> trouble_;
};

/// Reports the end of a request.
void finish(PostRequest& request, Result<void> outcome, bool permanent = false);

}  // namespace routemaster::detail
