/// @file
/// One queue of `JobLeases`: who waits for its jobs, and who has leased them.

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

#include "core/work/lease_loop.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/log.hpp"
#include "routemaster/random.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

/// The error of one who can get nothing now, because this process ends.
[[nodiscard]] Error leases_stopping();

/// A request that waits, or begins to.
struct LeaseWaiter {
    LeaseRequest request;
    std::function<void(Result<std::vector<LeasedJob>>)> done;
    TimePoint until{};  ///< When it is answered in any case.
    std::vector<LeasedJob> jobs{};

    /// How far it has come. Nobody is sent away before the store was asked on its behalf.
    enum class Look : std::uint8_t { none, asked, answered };
    Look look = Look::none;

    [[nodiscard]] bool gone() const noexcept { return request.gone && request.gone->load(); }
    [[nodiscard]] bool passing() const noexcept { return request.wait <= Duration{0}; }
};

/// Gets the answer to an extension: nothing when the lease is lost.
using ExtensionDone = std::function<void(Result<std::optional<Extension>>)>;

/// A `LeaseLoop` whose slots are the requests that wait. Thread safety: none.
class LeasedQueue final : public LeaseLoop::Owner {
public:
    /// The store, the options and the random numbers must outlive it.
    LeasedQueue(Store& store, std::string queue, const JobLeasesOptions& options, Random& random,
                TimePoint now);

    void wake_with(std::function<void()> wake) { loop_.wake_with(std::move(wake)); }

    /// The first half of a poll, and the second one, which returns when to poll next.
    void receive(TimePoint now);
    TimePoint send();

    /// Takes a request; a later poll answers it. To be called between the halves of a poll, as all
    /// that follows.
    void wait(LeaseWaiter waiter);

    /// Puts off the end of a lease. The answer comes once it is certain that the lease is not lost.
    void extend(LeaseName name, std::optional<Duration> lease_time, ExtensionDone done);

    /// The lease of that name, and keeps it from ending by itself; null when it is none of these,
    /// or is being settled.
    [[nodiscard]] const Lease* begin_settling(const LeaseName& name);
    /// What became of it: without `ended` it goes on.
    void settled(const LeaseName& name, bool ended);

    /// Answers all who wait with an error.
    void refuse_waiting(const Error& error);

    /// Acquires nothing any more, and releases all jobs. Poll it until it is `over`.
    void close(TimePoint deadline);
    [[nodiscard]] bool over() const noexcept { return loop_.retired(); }

    /// Whether nobody has wanted anything of it for so long.
    [[nodiscard]] bool idle(TimePoint now) const noexcept;

    /// Requests that wait for jobs, and those whose wait is 0.
    [[nodiscard]] std::size_t waiting() const noexcept { return waiters_.size() - passing_; }
    [[nodiscard]] std::size_t passing() const noexcept { return passing_; }
    [[nodiscard]] std::size_t leased() const noexcept { return leases_.size(); }
    /// Bytes of jobs that are leased, or whose leases are being ended.
    [[nodiscard]] std::size_t leased_bytes() const noexcept { return loop_.leased_bytes(); }

    // What the lease loop reports.
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

    /// A lease that a worker has.
    struct Given {
        Id id;
        std::string worker;
        Duration lease_time;
        TimePoint times_out;  ///< When the attempt has taken too long.
        Ends::iterator ends;  ///< The end of `ends_` while it is being settled.
        TimePoint until;
        bool cancelled = false;
        [[nodiscard]] bool settling(const Ends& all) const noexcept { return ends == all.end(); }
    };
    /// A worker that asked, and the handlers that it named.
    struct Client {
        TimePoint until;  ///< How long it counts as there unless it has a lease or asks again.
        std::vector<std::string> handlers;
    };
    /// An extension whose answer waits for the store.
    struct Extending {
        LeaseName name;
        ExtensionDone done;
        TimePoint until;  ///< When it is answered in any case.
    };
    /// By their fences.
    using Leases = std::unordered_map<std::uint64_t, Given>;

    void note_client(const LeaseRequest& request);
    void forget_clients();
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
    /// Whether the time of a lease is over.
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
    Waiters waiters_;            // In the order in which they came.
    Waiters served_;             // Those that are to be answered with jobs.
    std::size_t wanted_ = 0;     // Jobs that those who wait ask for, all together.
    std::size_t passing_ = 0;    // Those of `waiters_` whose wait is 0.
    TimePoint look_at_ = never;  // When one of them is to be answered.
    bool unasked_ = false;       // The store was not asked yet on behalf of some.
    bool asking_ = false;        // A question is under way.
    std::optional<Error> trouble_;
    std::map<std::string, Client> clients_;       // By name, at most `clients_max`.
    TimePoint unnamed_until_ = TimePoint::min();  // Until then some client named no handlers.
    const TimePoint since_;
    Leases leases_;
    Ends ends_;
    std::vector<Extending> extending_;           // In the order in which they came.
    std::unordered_map<Id, std::string> ended_;  // What to log of those that ended by themselves.
    bool closing_ = false;
};

}  // namespace routemaster::detail
