/// @file
/// `HttpPostLoop`: the event-loop thread that performs the POSTs of a transport.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/system/waker.hpp"
#include "http_post.hpp"
#include "http_posts.hpp"
#include "name_queue.hpp"
#include "name_resolver.hpp"
#include "routemaster/error.hpp"
#include "routemaster/store/spare_thread.hpp"
#include "routemaster/transport/http.hpp"
#include "target.hpp"
#include "this_machine.hpp"

namespace routemaster::detail {

/// Thread that resolves the hosts of requests, and posts the requests, at most `in_flight_max` at
/// once. If the process has no descriptor left for a socket, requests wait. After an internal
/// error, the loop replaces its `HttpPosts`.
///
/// While at most one request began recently, the loop lends its thread to another active object,
/// the borrower (see `SpareThread`): the thread then also runs the borrower's polls. Names of this
/// class call such a poll a "turn".
///
/// Thread safety: `submit`, `trouble` and the members of `SpareThread` may be called from any
/// thread.
class HttpPostLoop final : public SpareThread {
public:
    /// Priority of the thread. `lowest` is the greatest niceness.
    enum class Priority : std::uint8_t { normal, lowest };

    /// Throws `Failure` if libcurl or epoll cannot be initialised.
    HttpPostLoop(HttpTransportOptions options, Priority priority);

    /// Completes every unfinished request with `cancelled`, and joins the thread.
    ~HttpPostLoop() override;

    HttpPostLoop(const HttpPostLoop&) = delete;
    HttpPostLoop& operator=(const HttpPostLoop&) = delete;

    /// Queues a request. Calls `done` of the request exactly once, on the loop's thread, or inside
    /// this call if the loop has ended.
    void submit(PostRequest request);

    [[nodiscard]] std::optional<std::string> trouble() const;

    [[nodiscard]] bool lend(std::function<void()> turn) override;
    void take_back() override;
    [[nodiscard]] bool request_turn() override;

private:
    using Clock = std::chrono::steady_clock;
    using Found = std::pair<std::string, Result<Addresses>>;

    void run();
    void take_turns();
    bool take_submitted();
    void note_whether_busy(std::size_t beginning);
    void wake(std::unique_lock<std::mutex> lock);
    void admit(PostRequest request);
    [[nodiscard]] const Result<Target>& target(const std::string& url);
    void found(const std::string& name, const Result<Addresses>& addresses);
    void proceed(PostRequest request, const Result<Addresses>& addresses);
    void end_overdue();
    [[nodiscard]] bool can_start() const;
    [[nodiscard]] bool is_starved() const;
    void put_back_starved();
    void admit_starved();
    [[nodiscard]] bool may_starve(PostRequest& request, Clock::time_point now);
    void start_waiting();
    [[nodiscard]] int timeout();
    void begin_anew();
    [[nodiscard]] bool pause_until(Clock::time_point end);
    void cancel_all();

    const HttpTransportOptions options_;
    ThisMachine machine_;
    Waker waker_;
    std::optional<Target> proxy_;
    std::unordered_map<std::string, Result<Target>> targets_;
    NameQueue nameless_;
    /// Requests beyond `in_flight_max`, and requests for which the process had no socket. The
    /// dispatcher bounds their number.
    std::deque<PostRequest> waiting_;
    std::vector<PostRequest> unresolved_;
    Clock::time_point unresolved_until_{};  ///< When the lookups in `unresolved_` are retried.
    Clock::time_point starved_until_{};  ///< When starts are retried, unless a POST ends earlier.
    std::size_t starved_size_ = 0;    ///< Number of POSTs in flight when the process had no socket.
    Clock::time_point begun_at_{};    ///< When `posts_` was created.
    std::vector<PostRequest> taken_;  ///< Swapped with `submitted_`, to reuse its memory.

    mutable std::mutex mutex_;  ///< Guards the members down to `posts_`.
    std::condition_variable stop_;
    std::condition_variable turn_ended_;
    std::function<void()> turn_;  ///< The borrower's poll. Called without the lock.
    bool turn_requested_ = false;
    bool in_turn_ = false;
    Clock::time_point busy_until_{};  ///< Until then, the loop does not lend its thread.
    std::vector<PostRequest> submitted_;
    std::vector<Found> found_;
    bool sleeping_ = false;
    bool stopping_ = false;
    std::optional<std::string> trouble_;
    std::unique_ptr<HttpPosts> posts_;  ///< Replaced under the lock; used on the loop's thread
                                        ///< without it.

    NameResolver resolver_;
    std::thread thread_;
};

}  // namespace routemaster::detail
