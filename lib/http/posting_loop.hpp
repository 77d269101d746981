/// @file
/// The thread that carries all POSTs of a transport at once.

#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "posting.hpp"
#include "routemaster/error.hpp"
#include "routemaster/transport/http.hpp"
#include "socket_watch.hpp"

namespace routemaster::detail {

/// Drives libcurl's multi interface by its sockets: what a wake-up costs depends on what happened,
/// not on how many deliveries are on their way. Sleeps while nothing happens.
///
/// Thread safety: `submit` from any thread; it wakes the loop only when the loop sleeps.
class PostingLoop {
public:
    /// Throws `Failure` when libcurl or epoll cannot be set up.
    explicit PostingLoop(HttpTransportOptions options);

    /// Ends every submission that has not ended, as `cancelled`, and joins the thread.
    ~PostingLoop();

    PostingLoop(const PostingLoop&) = delete;
    PostingLoop& operator=(const PostingLoop&) = delete;

    /// Posts it as soon as there is a connection free. Its `done` is called once, from the loop's
    /// thread, or inside this call when the loop has ended.
    void submit(Submission submission);

private:
    using Clock = std::chrono::steady_clock;

    struct Cleanup {
        void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
    };

    static int watch_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
    static int set_timer(CURLM*, long milliseconds, void* self);

    void run();
    bool take_inbox();
    [[nodiscard]] bool can_start() const;
    void start_waiting();
    void start(Submission submission);
    void act(curl_socket_t socket, int events);
    void act_on_timer();
    void reap();
    void cancel_all();
    [[nodiscard]] int patience();

    const HttpTransportOptions options_;
    SocketWatch watch_;  ///< Outlives the connections, which report their end to it.
    std::unique_ptr<CURLM, Cleanup> multi_;
    std::optional<Clock::time_point> timer_;  ///< When libcurl wants to be called.
    std::deque<Submission> waiting_;  ///< Beyond `connections_max`. Bounded by whoever submits.
    std::vector<std::unique_ptr<Posting>> postings_;  ///< As many as were ever under way at once.
    std::vector<Posting*> idle_;                      ///< Those of them that are free.

    std::mutex mutex_;  ///< Guards the three below.
    std::vector<Submission> inbox_;
    bool sleeping_ = false;
    bool stopping_ = false;

    std::vector<Submission> taken_;  ///< What was the inbox; keeps its memory.
    std::vector<std::pair<Posting*, Result<void>>> ended_;  ///< What `reap` is at.
    std::thread thread_;
};

}  // namespace routemaster::detail
