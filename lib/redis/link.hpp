/// @file
/// The link to a Redis server: one connection for the calls of all threads, one connection that
/// listens to channels, and the thread that drives both.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
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
#include "command_connection.hpp"
#include "connector.hpp"
#include "core/system/owner_process.hpp"
#include "instant.hpp"
#include "link_context.hpp"
#include "listener.hpp"
#include "master_watch.hpp"
#include "poll_set.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/time.hpp"
#include "script.hpp"
#include "wake_channels.hpp"

namespace routemaster::redis {

/// Runs scripts on a server over one pipelined connection, and listens to channels over another
/// connection. Reconnects automatically after any failure.
///
///     send ──► submitted_ ──► waiting_ ──► connection_ ──► finished_ ──► done
///                  any thread │ the link's thread from here on
///
/// Calls are sent in the order of `send`. All waiting calls are sent together, some of them as one
/// call; see `join`. When the connection breaks, a call not yet sent waits for the next connection
/// until its timeout (`unavailable`). A call that was sent is in doubt (`timed_out`). Beyond
/// `waiting_max` calls, a call fails as `unavailable` at once.
///
/// Thread safety: all public members may be called from any thread.
class Link {
public:
    /// Starts to connect, without waiting for the connection. `heard` is called with each message
    /// of `channel`, and with an empty text when messages may have been missed because the
    /// listening connection is new. `heard_further` is called with the name of each of
    /// `further_channels` that had a message. Neither callback may block.
    /// Throws `Failure`: `invalid` when the options are inconsistent.
    Link(RedisOptions options, std::string channel, std::function<void(std::string_view)> heard,
         std::function<void(const std::string&)> heard_further = {});

    /// Completes waiting calls as `cancelled` and calls in doubt as `timed_out`, and closes both
    /// connections.
    ~Link();

    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Sends the calls in their order, with no other calls between. The calls are moved from.
    void send(std::span<Call> calls);

    /// Returns the server's clock minus the system clock. Zero when the two differ by no more than
    /// the uncertainty of the measurement. Refreshed in the background. A step of this machine's
    /// clock counts at once.
    [[nodiscard]] Duration clock_offset() const { return context_.clock->offset(); }

    [[nodiscard]] const std::shared_ptr<WakeChannels>& further_channels() const noexcept {
        return further_channels_;
    }

    /// Waits for the first connection. Returns success once connected, else the reason.
    [[nodiscard]] Result<void> wait_until_connected(Duration timeout);

private:
    // One iteration of the loop reads the arrived data, reports results, sends the accumulated
    // calls with one system call, and sleeps when nothing is left to do.
    void run();
    void work(Instant now);
    void work_connection(Instant now);
    void work_listener(Instant now);
    bool take_submitted(Instant now);
    void flush(Instant now);
    [[nodiscard]] static PendingCall take_next(std::deque<PendingCall>& queue);
    void collect(CommandConnection::Output& output, Instant now);
    void connected(std::unique_ptr<CommandConnection> connection, Instant now);
    void lost(Instant now);
    void listen(Instant now);
    void report_results();
    void publish_status();
    [[nodiscard]] std::string unsent_reason() const;
    [[nodiscard]] int poll_timeout(Instant now);
    void end();

    const detail::OwnerProcess process_{"store", "opened", "open"};
    LinkContext context_;
    const std::shared_ptr<WakeChannels> further_channels_;
    Channel channel_;
    std::uint64_t calls_ = 0;          ///< The number of calls taken from `submitted_`.
    std::deque<PendingCall> retries_;  ///< Calls sent before, to be sent first, in their order.
    std::deque<PendingCall> waiting_;  ///< Not sent yet; with `retries_` bounded by `waiting_max`.
    bool slot_moving_ = false;  ///< While true, single calls test whether the slot has moved.
    Instant send_due_ = Instant::min();  ///< Nothing is sent before this.
    std::vector<FinishedCall> finished_;
    std::vector<FinishedCall> reporting_;  ///< Swapped with `finished_`; keeps its memory.
    Connector connector_;
    std::unique_ptr<CommandConnection> connection_;  ///< Null while `connector_` works.
    MasterWatch master_watch_;
    std::unique_ptr<Listener> listener_;
    Backoff listener_backoff_;
    Instant listener_due_ = no_instant;
    std::optional<Error> listen_error_;  ///< The last listening error that was logged.
    std::optional<Instant> lost_at_;
    PollSet polled_;
    std::vector<Call> taken_;  ///< Swapped with `submitted_`; keeps its memory.

    std::mutex mutex_;  ///< Guards the members from here to the thread.
    std::condition_variable status_changed_;
    std::vector<Call> submitted_;
    std::size_t unanswered_ = 0;  ///< Calls without a result yet.
    bool sleeping_ = false;
    bool stopping_ = false;
    bool was_connected_ = false;
    bool permanent_failure_ = false;
    Error last_error_{Errc::unavailable, "not connected yet"};

    std::thread thread_;
};

}  // namespace routemaster::redis
