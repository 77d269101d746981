/// @file
/// `Link`: the connections to a Redis server. One connection carries the calls of all threads,
/// another listens to channels, and one thread serves both.

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

/// Client of a Redis server. It runs scripts over one pipelined connection, listens to channels
/// over another connection, and reconnects automatically after any failure.
///
///     send ──► submitted_ ──► waiting_ ──► connection_ ──► finished_ ──► done
///                  any thread │ the link's thread from here on
///
/// Calls are sent in the order of `send`. All waiting calls are sent together, and some are joined
/// into one call; see `join`. If the connection breaks, an unsent call waits for the next
/// connection, and fails with `unavailable` at its timeout. A call that was sent is in doubt, and
/// fails with `timed_out`. When `waiting_max` calls wait, a further call fails with `unavailable`
/// at once.
///
/// Thread safety: all public members may be called from any thread.
class Link {
public:
    /// Starts to connect in the background. `heard` is called with each message of `channel`.
    /// Whenever the listening connection was opened, `heard` is called with an empty text, because
    /// messages may have been missed before. `heard_further` is called with the name of each
    /// channel in `further_channels` that received a message. Neither callback may block. Throws
    /// `Failure` with `invalid` when the options are inconsistent.
    Link(RedisOptions options, std::string channel, std::function<void(std::string_view)> heard,
         std::function<void(const std::string&)> heard_further = {});

    /// Closes both connections. Completes unsent calls with `cancelled`, and calls in doubt with
    /// `timed_out`.
    ~Link();

    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Sends the calls in their order, with no other calls in between. The calls are moved from.
    void send(std::span<Call> calls);

    /// Returns the server's clock minus the system clock, or zero if the difference is within the
    /// uncertainty of the measurement. It is measured in the background. If the clock of this
    /// machine is set, the result changes at once.
    [[nodiscard]] Duration clock_offset() const { return context_.clock->offset(); }

    [[nodiscard]] const std::shared_ptr<WakeChannels>& further_channels() const noexcept {
        return further_channels_;
    }

    /// Waits until the first connection is ready. After `timeout`, returns the reason why it is
    /// not.
    [[nodiscard]] Result<void> wait_until_connected(Duration timeout);

private:
    // The loop of the link's thread. An iteration reads the received data, reports results, sends
    // all waiting calls with one system call, and then sleeps if there is nothing to do.
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
    std::uint64_t calls_ = 0;
    std::deque<PendingCall> retries_;  ///< To be sent again, before `waiting_`, in order.
    std::deque<PendingCall> waiting_;  ///< Not sent yet. With `retries_` at most `waiting_max`.
    /// A cluster slot is being migrated; single calls test whether the migration has ended.
    bool slot_moving_ = false;
    Instant send_due_ = Instant::min();  ///< No call is sent before this instant.
    std::vector<FinishedCall> finished_;
    std::vector<FinishedCall> reporting_;  ///< Swapped with `finished_` to reuse its memory.
    Connector connector_;
    std::unique_ptr<CommandConnection> connection_;  ///< Null while `connector_` is connecting.
    MasterWatch master_watch_;
    std::unique_ptr<Listener> listener_;
    Backoff listener_backoff_;
    Instant listener_due_ = no_instant;
    std::optional<Error> listen_error_;  ///< The last logged error of the listener.
    std::optional<Instant> lost_at_;
    PollSet polled_;
    std::vector<Call> taken_;  ///< Swapped with `submitted_` to reuse its memory.

    std::mutex mutex_;  ///< Guards the members from here to the thread.
    std::condition_variable status_changed_;
    std::vector<Call> submitted_;
    std::size_t unanswered_ = 0;  ///< Number of calls without a result.
    bool sleeping_ = false;
    bool stopping_ = false;
    bool was_connected_ = false;
    bool permanent_failure_ = false;
    Error last_error_{Errc::unavailable, "not connected yet"};

    std::thread thread_;
};

}  // namespace routemaster::redis
