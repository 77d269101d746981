/// @file
/// `HttpPosts`: concurrent POSTs on one libcurl multi handle.

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
#include "write_pauses.hpp"

namespace routemaster::detail {

/// Driver for a libcurl multi handle, with epoll for its sockets. The cost of a wake-up depends on
/// the number of events, not on the number of POSTs in flight.
///
/// An error of a POST ends only this POST. `trouble` returns an error of the multi handle or of
/// epoll. The caller must then call `end_all` and replace this object.
///
/// Thread safety: one thread.
class HttpPosts {
public:
    using Clock = std::chrono::steady_clock;

    /// All arguments must outlive this object. Throws `Failure` if libcurl or epoll cannot be
    /// initialised.
    HttpPosts(const HttpTransportOptions& options, ThisMachine& machine, const Waker& waker);

    /// All POSTs must have ended before.
    ~HttpPosts();

    HttpPosts(const HttpPosts&) = delete;
    HttpPosts& operator=(const HttpPosts&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return all_.size() - idle_.size(); }

    static constexpr std::chrono::milliseconds recent_for{1};

    /// Number of POSTs in flight that began within `recent_for`. Older POSTs wait for slow
    /// receivers, and use almost no processor time.
    [[nodiscard]] std::size_t recent();

    /// Begins a POST. Calls `done` of the request exactly once, inside this call if the POST cannot
    /// begin.
    void start(PostRequest request);

    void advance();

    /// When `advance` must be called at the latest, if any work is scheduled.
    [[nodiscard]] std::optional<Clock::time_point> due() const {
        const bool now = !unwatched_.empty() || !without_socket_.empty();
        if (now) return Clock::time_point::min();
        auto first = timer_;
        const auto include = [&first](Clock::time_point time) {
            first = first ? std::min(*first, time) : time;
        };
        if (!deadlines_.empty()) include(deadlines_.begin()->first);
        if (const auto end = write_pauses_.due()) include(*end);
        return first;
    }

    /// Sleeps until a socket is ready, the waker is signalled, or `milliseconds` have passed (-1:
    /// no timeout). Then processes the ready sockets.
    void wait(int milliseconds);

    /// The error because of which no POST can continue, if any.
    [[nodiscard]] const std::optional<Error>& trouble() const noexcept { return trouble_; }

    void end_all(const Error& error);

    struct Starved {
        PostRequest request;
        Error error;
    };

    /// Removes and returns the starved requests, in the order of their starts. If there are any,
    /// the connections of the POSTs in flight are closed when these end.
    [[nodiscard]] std::vector<Starved> take_starved();

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
    [[nodiscard]] PostRequest remove(HttpPost& post);
    void report();

    const HttpTransportOptions& options_;
    ThisMachine& machine_;
    SocketWatch watch_;
    WritePauses write_pauses_{watch_};
    TurnBudget budget_;
    std::unique_ptr<CURLM, Cleanup> multi_;
    std::optional<Clock::time_point> timer_;  ///< When libcurl's timer expires.
    /// Easy handles, reused; as many as ever in flight at once.
    std::vector<std::unique_ptr<HttpPost>> all_;
    std::vector<HttpPost*> idle_;
    std::deque<std::pair<Clock::time_point, const HttpPost*>> recent_;  ///< By time of start.
    std::set<std::pair<Clock::time_point, HttpPost*>> deadlines_;
    /// The POSTs that `end_completed` must end.
    std::vector<std::pair<HttpPost*, Result<void>>> ended_;
    std::vector<Report> unreported_;
    std::vector<Starved> starved_;
    std::vector<std::pair<HttpPost*, Error>> unwatched_;  ///< POSTs whose socket epoll rejected.
    std::vector<HttpPost*> without_socket_;               ///< POSTs that may try another address.
    std::optional<Error> trouble_;
};

void finish(PostRequest& request, Result<void> outcome, bool permanent = false);

}  // namespace routemaster::detail
