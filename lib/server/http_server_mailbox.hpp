/// @file
/// How other threads reach an event loop: they leave mail, and one of them wakes it.
///
/// A connection is touched by the thread of its loop alone, so an answer that comes from elsewhere
/// is only ever a letter. Waking costs one system
/// call for all that was posted since the loop last looked: a group commit that answers 64
/// requests pays for one.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/system/file_descriptor.hpp"
#include "routemaster/server/http_server.hpp"

namespace routemaster::detail {

class Connection;

/// An answer on its way to the request it is for.
struct Answer {
    Connection* connection;
    HttpResponse response;
    bool dropped = false;  ///< Nobody answered: the responder was destroyed.
};

/// Everything that was left for a loop since it last looked.
struct Mail {
    std::vector<Answer> answers;
    std::vector<FileDescriptor> clients;
    std::size_t evictions = 0;  ///< How many connections are to give way to those of other loops.
    std::optional<std::chrono::steady_clock::time_point> stop_at;
};

/// The mailbox of one loop. Shared with responders, it outlives the loop; once closed it swallows
/// what is posted.
///
/// Thread safety: all members from any thread. Bounded by the connections and by the responders
/// that the handler keeps: each posts one answer.
class Mailbox {
public:
    /// Throws `Failure` (`unavailable`) when the process has no descriptor left.
    Mailbox();

    /// Becomes readable when there is mail; meant for an edge-triggered epoll, nobody reads it.
    [[nodiscard]] int wake_descriptor() const noexcept { return wake_.get(); }

    void post(Answer answer);
    void post(FileDescriptor client);
    /// Asks the loop to close the connection that `evictable_at` is about.
    void evict();
    /// Asks the loop to end when its requests are answered, at the latest at `deadline`.
    void stop(std::chrono::steady_clock::time_point deadline);

    /// Moves the mail into `mail`, which was emptied before: the two exchange their memory.
    void take(Mail& mail);

    /// Takes the last mail and refuses what comes after it.
    void close(Mail& mail);

    /// When the first connection of the loop may be closed to make room for another client: one
    /// whose request is not complete, or that has been idle for long. The loop says so.
    std::atomic<std::chrono::steady_clock::time_point> evictable_at{
        std::chrono::steady_clock::time_point::max()};

private:
    template <class Put>
    void post_with(Put put);

    FileDescriptor wake_;
    std::mutex mutex_;  ///< Guards everything below.
    Mail mail_;
    bool has_mail_ = false;
    bool closed_ = false;
};

/// The right to answer one request once. A responder is a function that shares one.
///
/// Thread safety: `answer` from any thread; calls after the first do nothing.
class Ticket {
public:
    Ticket(std::shared_ptr<Mailbox> mailbox, Connection& connection) noexcept
        : mailbox_{std::move(mailbox)}, connection_{&connection} {}
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    /// Tells the request that nobody will answer it, if nobody did.
    ~Ticket();

    void answer(HttpResponse response);

private:
    void deliver(Answer answer);

    std::shared_ptr<Mailbox> mailbox_;
    Connection* connection_;  ///< Alive until answered; not touched after.
    std::atomic<bool> used_{false};
};

}  // namespace routemaster::detail
