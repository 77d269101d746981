/// @file
/// The thread of a link.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backoff.hpp"
#include "call.hpp"
#include "carrier.hpp"
#include "errands.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "listener.hpp"
#include "master_watch.hpp"
#include "poll_set.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "search.hpp"

namespace routemaster::redis {

/// Does what `Link` promises. One turn of its loop reads what has come, tells the answers, sends
/// what has accumulated meanwhile with one system call, and sleeps when nothing is left to do.
///
/// Thread safety: the public members may be called from any thread.
class LinkLoop {
public:
    LinkLoop(LinkContext context, Channel channel);
    ~LinkLoop();

    LinkLoop(const LinkLoop&) = delete;
    LinkLoop& operator=(const LinkLoop&) = delete;

    void send(std::span<Call> calls);
    [[nodiscard]] Duration clock_offset() const { return context_.clock->offset(); }
    [[nodiscard]] Result<void> wait_until_connected(Duration patience);

private:
    void run();
    void work(Instant now);
    void work_carrier(Instant now);
    void work_listener(Instant now);
    bool take_inbox(Instant now);
    void pour(Instant now);
    void collect(Carrier::Yield& yield);
    void found(std::unique_ptr<Carrier> carrier, Instant now);
    void lost(Instant now);
    void listen(Instant now);
    void deliver();
    void tell_status();
    [[nodiscard]] std::string why() const;
    [[nodiscard]] int patience(Instant now);
    void end();

    LinkContext context_;
    Channel channel_;
    std::deque<Pending> again_;    ///< Sent before, to be sent first.
    std::deque<Pending> waiting_;  ///< Not sent yet, as `again_` bounded by `waiting_max`.
    std::vector<Answered> answers_;
    std::vector<Answered> told_;  ///< Being told; keeps its memory.
    Search search_;
    std::unique_ptr<Carrier> carrier_;  ///< Ready or leaving; none while searching.
    MasterWatch master_watch_;
    Errands errands_;
    std::unique_ptr<Listener> listener_;
    Backoff listener_backoff_;
    Instant listener_due_ = no_instant;  ///< When to listen again.
    std::optional<Error> deaf_;          ///< Why nobody listens, as far as it was logged.
    std::optional<Instant> lost_at_;     ///< When the last connection was lost.
    PollSet polled_;
    std::vector<Call> taken_;  ///< What was the inbox; keeps its memory.

    std::mutex mutex_;  ///< Guards what follows, up to the thread.
    std::condition_variable connected_;
    std::vector<Call> inbox_;
    std::size_t under_way_ = 0;  ///< Calls that wait for an answer.
    bool sleeping_ = false;
    bool stopping_ = false;
    bool was_connected_ = false;
    bool is_hopeless_ = false;
    Error obstacle_{Errc::unavailable, "not connected yet"};

    std::thread thread_;
};

}  // namespace routemaster::redis
