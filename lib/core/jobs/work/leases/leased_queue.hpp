/// @file
/// `LeasedQueue`: a queue of `JobLeases`, with waiting requests and leases.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/jobs/work/lease_loop.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/log.hpp"
#include "routemaster/random.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

/// The error for requests while this process shuts down.
[[nodiscard]] Error leases_stopping();

struct LeaseWaiter {
    LeaseRequest request;
    std::function<void(Result<std::vector<LeasedJob>>)> done;
    TimePoint until{};  ///< When the request is completed, even without jobs.
    std::vector<LeasedJob> jobs{};

    /// Whether an acquisition covers the request (`asked`), and whether its reply has arrived
    /// (`answered`). A request without jobs is not completed before that.
    enum class Look : std::uint8_t { none, asked, answered };
    Look look = Look::none;

    [[nodiscard]] bool gone() const noexcept { return request.gone && request.gone->load(); }
    [[nodiscard]] bool passing() const noexcept { return request.wait <= Duration{0}; }
};

/// Receives the result of an extension; empty when the lease is lost.
using ExtensionDone = std::function<void(Result<std::optional<Extension>>)>;

/// Pool of leases for remote clients: a `LeaseLoop` whose slots are the waiting requests of
/// clients. Not thread safe.
class LeasedQueue final : public LeaseLoop::Owner {
public:
    /// The store, the options and the random numbers must outlive the queue.
    LeasedQueue(Store& store, std::string queue, const JobLeasesOptions& options, Random& random,
                TimePoint now);

    void wake_with(std::function<void()> wake) { loop_.wake_with(std::move(wake)); }

    /// The two halves of a poll. `send` returns when to poll next.
    void receive(TimePoint now);
    TimePoint send();

    /// Adds a request, which a later poll completes. This function and the following functions must
    /// be called between the halves of a poll.
    void wait(LeaseWaiter waiter);

    /// Extends a lease. `done` is called once the lease was confirmed by the store.
    void extend(LeaseName name, std::optional<Duration> lease_time, ExtensionDone done);

    /// The lease with this name, which does not expire until `settled` is called. Null when the
    /// lease is unknown or already being settled.
    [[nodiscard]] const Lease* begin_settling(const LeaseName& name);
    /// Completes what `begin_settling` began. If `ended` is false, the lease continues.
    void settled(const LeaseName& name, bool ended);

    void refuse_waiting(const Error& error);

    /// Stops acquisitions and releases all jobs. The queue must be polled until `over`.
    void close(TimePoint deadline);
    [[nodiscard]] bool over() const noexcept { return loop_.retired(); }

    [[nodiscard]] bool idle(TimePoint now) const noexcept;

    /// Number of requests that wait for jobs, and number of requests with a wait of 0.
    [[nodiscard]] std::size_t waiting() const noexcept { return waiters_.size() - passing_; }
    [[nodiscard]] std::size_t passing() const noexcept { return passing_; }
    [[nodiscard]] std::size_t leased() const noexcept { return leases_.size(); }
    [[nodiscard]] std::size_t leased_bytes() const noexcept { return loop_.leased_bytes(); }

    using Id = LeaseLoop::Id;
    void describe(Heartbeat& heartbeat) override;
    void acquired(Id id, const Lease& lease) override;
    void not_acquired(const Error& error) override { trouble_ = error; }
    void settled(Id id, Settlement settlement) override;
    void lost(Id id) override;
    void cancelled(Id id) override;
    void unfit(Id id, const Error& error) override;

private:
    using Ends = std::multimap<TimePoint, std::uint64_t>;
    using Waiters = std::list<LeaseWaiter>;

    struct Given {
        Id id;
        std::string worker;
        Duration lease_time;
        TimePoint begun_at;
        TimePoint times_out;
        /// Position in `ends_`, or `ends_.end()` while the lease is being settled.
        Ends::iterator ends;
        TimePoint until;
        bool cancelled = false;
        [[nodiscard]] bool settling(const Ends& all) const noexcept { return ends == all.end(); }
    };
    struct Client {
        /// Until when the client counts as present although it has no lease and no request.
        TimePoint until;
        std::vector<std::string> handlers;
    };
    struct Extending {
        LeaseName name;
        ExtensionDone done;
        TimePoint until;  ///< When the extension is completed in any case.
    };
    /// By fence.
    using Leases = std::unordered_map<std::uint64_t, Given>;

    void note_client(const LeaseRequest& request);
    void forget_clients();
    void note_answer(const LeaseWaiter& waiter);
    void describe_slots(WorkerProfile& profile, Heartbeat& heartbeat) const;
    void clock_set_back(Duration passed);
    void stood_still(Duration span);
    void note_reply();
    void refuse_for_trouble();
    [[nodiscard]] LeaseWaiter* next_in_turn();
    void serve();
    void answer_served();
    void look_through();
    Waiters::iterator answer(Waiters::iterator waiter, Result<std::vector<LeasedJob>> reply);
    void note_end_of_wait(const LeaseWaiter& waiter) noexcept;

    [[nodiscard]] Leases::iterator find(const LeaseName& name);
    void end_at(Leases::iterator lease, TimePoint until);
    void answer_extensions();
    [[nodiscard]] bool is_overdue() const noexcept {
        return !ends_.empty() && ends_.begin()->first <= now_;
    }
    void end_overdue();
    void forget_left();
    void drop(std::uint64_t fence);
    void release(const std::vector<LeasedJob>& jobs);
    void log(LogLevel level, const std::string& text) const;

    const JobLeasesOptions& options_;
    const std::string queue_;
    const Uid worker_;
    Random& random_;
    LeaseLoop loop_;
    TimePoint now_;
    TimePoint used_at_;
    Waiters waiters_;  // Waiting requests, in the order of arrival.
    Waiters served_;   // Requests to be completed with jobs.
    std::size_t wanted_ = 0;
    std::size_t passing_ = 0;    // Number of waiting requests with a wait of 0.
    TimePoint look_at_ = never;  // When to examine the waiting requests next.
    bool unasked_ = false;       // Some request is not covered by an acquisition yet.
    bool asking_ = false;
    std::optional<Error> trouble_;
    std::map<std::string, Client> clients_;       // By name, at most `clients_max`.
    TimePoint unnamed_until_ = TimePoint::min();  // Until then a client lists no handlers.
    // Clients whose last request got too few jobs, by name, at most `clients_max`, and until when
    // these clients count as free.
    std::map<std::string, TimePoint> free_clients_;
    const TimePoint since_;
    Leases leases_;
    Ends ends_;
    std::vector<Extending> extending_;
    // Descriptions, for the log, of leases being settled.
    std::unordered_map<Id, std::string> ended_;
    bool closing_ = false;
};

}  // namespace routemaster::detail
