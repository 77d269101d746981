/// @file
/// The thread that carries all POSTs of a transport at once.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "name_queue.hpp"
#include "name_resolver.hpp"
#include "posting.hpp"
#include "postings.hpp"
#include "routemaster/error.hpp"
#include "routemaster/transport/http.hpp"
#include "target.hpp"
#include "this_machine.hpp"

namespace routemaster::detail {

/// Takes submissions in, finds the addresses of their hosts, and has them posted as soon as there
/// is a connection free. Sleeps while nothing happens. What posts them is made anew when it breaks.
///
/// Thread safety: `submit` and `trouble` from any thread; `submit` wakes the loop only when the
/// loop sleeps.
class PostingLoop {
public:
    /// Throws `Failure` when libcurl or epoll cannot be set up.
    explicit PostingLoop(HttpTransportOptions options);

    /// Ends every submission that has not ended, as `cancelled`, and joins the thread.
    ~PostingLoop();

    PostingLoop(const PostingLoop&) = delete;
    PostingLoop& operator=(const PostingLoop&) = delete;

    /// Its `done` is called once, from the loop's thread, or inside this call when the loop has
    /// ended.
    void submit(Submission submission);

    /// Why nothing can be posted now.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    using Clock = std::chrono::steady_clock;
    using Found = std::pair<std::string, Result<Addresses>>;

    void run();
    bool take_inbox();
    void wake();
    void admit(Submission submission);
    [[nodiscard]] const Result<Target>& target(const std::string& url);
    void found(const std::string& name, const Result<Addresses>& addresses);
    void proceed(Submission submission, const Result<Addresses>& addresses);
    void end_overdue();
    [[nodiscard]] bool can_start() const;
    void start_waiting();
    [[nodiscard]] int patience();
    void begin_anew();
    [[nodiscard]] bool pause_until(Clock::time_point end);
    void cancel_all();

    const HttpTransportOptions options_;
    ThisMachine machine_;
    std::optional<Target> proxy_;
    std::unordered_map<std::string, Result<Target>> targets_;  ///< Of callbacks that were seen.
    NameQueue nameless_;
    std::deque<Submission> waiting_;  ///< Beyond `connections_max`. Bounded by whoever submits.
    Clock::time_point begun_at_{};    ///< When `postings_` were made.
    std::vector<Submission> taken_;   ///< What was the inbox; keeps its memory.

    mutable std::mutex mutex_;  ///< Guards what follows, up to the resolver.
    std::condition_variable stop_;
    std::vector<Submission> inbox_;
    std::vector<Found> found_;
    bool sleeping_ = false;
    bool stopping_ = false;
    std::optional<std::string> trouble_;
    std::unique_ptr<Postings> postings_;  ///< Replaced under the lock, used by the thread without.

    NameResolver resolver_;
    std::thread thread_;
};

}  // namespace routemaster::detail
