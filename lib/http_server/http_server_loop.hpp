/// @file
/// `Loop`: an event loop of the server: a thread, an epoll set, and connections.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/system/file_descriptor.hpp"
#include "http_server_connection.hpp"
#include "http_server_event_queue.hpp"
#include "http_server_listener.hpp"
#include "http_server_service.hpp"

namespace routemaster::detail {

/// Event loop that serves the connections posted to its event queue.
///
/// The loop has a list of connections for each state, in the order in which they entered the state.
/// Each list has one timeout, so only the first connections must be checked.
///
/// Thread safety: `queue` may be called from any thread, `start` and `join` only from the owner's
/// thread.
class Loop {
public:
    using EventQueues = std::vector<std::shared_ptr<EventQueue>>;

    /// `share` and `listener` must outlive this object.
    Loop(ServerShare& share, Listener& listener);
    ~Loop();

    [[nodiscard]] const std::shared_ptr<EventQueue>& queue() const noexcept {
        return service_.queue;
    }

    /// Starts the thread, which runs until `stop` is posted to the event queue. A loop with
    /// `queues` also accepts clients, and distributes them among the queues in rotation.
    void start(EventQueues queues);

    void join();

private:
    using SteadyTime = std::chrono::steady_clock::time_point;
    using State = Connection::State;
    using Connections = std::list<Connection>;

    [[nodiscard]] bool watch(int descriptor, std::uint32_t events, std::uint64_t about);
    [[nodiscard]] Connections& in(State state) noexcept {
        return connections_[static_cast<std::size_t>(state)];
    }
    [[nodiscard]] const Connections& in(State state) const noexcept {
        return connections_[static_cast<std::size_t>(state)];
    }

    void run();
    bool send(QueuedResponse& answer);
    void turn(std::optional<std::chrono::milliseconds> wait);
    [[nodiscard]] std::optional<std::chrono::milliseconds> time_left() const;
    [[nodiscard]] bool finished() const;
    void wind_up();

    void accept_clients();
    void listen_later(std::chrono::milliseconds pause);
    void listen_again();
    [[nodiscard]] bool make_place();
    void read_events();
    void adopt(FileDescriptor client);
    void stop(SteadyTime deadline);

    void advance(Connection& connection);
    void enqueue(Connection& connection);
    void settle(Connection& connection) noexcept;
    void advance_queued();
    void bury_closed();

    [[nodiscard]] std::optional<std::chrono::milliseconds> timeout_of(State state) const;
    void expire();
    [[nodiscard]] Connection* first_evictable(SteadyTime& at);
    void evict();
    void report_evictable(bool asked);
    void tell_complaints();

    ServerShare& share_;
    Listener& listener_;
    Service service_;
    EventQueues queues_;
    std::size_t next_queue_ = 0;

    FileDescriptor epoll_;
    /// Bounded by `connections_max`. Abandoned connections are bounded by the number of responders
    /// that handlers have not used.
    std::array<Connections, Connection::states> connections_;
    std::deque<Connection*> queued_;  ///< Connections with more work, without duplicates.
    std::size_t evictions_ = 0;
    SteadyTime evictable_reported_ = SteadyTime::max();
    Events events_;
    std::optional<SteadyTime> stop_at_;
    std::optional<SteadyTime> listen_again_at_;
    std::optional<SteadyTime> complain_at_;
    /// Locked on `EventQueue::turn_`, except while the loop sleeps.
    std::unique_lock<std::mutex> turn_;
    std::thread thread_;
};

}  // namespace routemaster::detail
