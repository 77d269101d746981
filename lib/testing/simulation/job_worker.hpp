/// @file
/// `JobWorker`: a worker process that runs jobs.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/jobs/work/lease_loop.hpp"
#include "link.hpp"
#include "process.hpp"
#include "routemaster/active.hpp"
#include "routemaster/store/step.hpp"
#include "subscribers.hpp"

namespace routemaster::simulation {

inline constexpr const char* job_queue = "work";

using JobCompletion = std::function<CompleteJob(const Lease&)>;

/// Simulated process that runs jobs with a real `LeaseLoop`. Attempts take simulated time. Each job
/// is completed with or without follow-ups, or is nacked, released or failed. Not thread safe.
class JobWorker final : public Process, private Active, private detail::LeaseLoop::Owner {
public:
    /// `complete` draws follow-ups. `die` kills this process. All further arguments must outlive
    /// this object.
    JobWorker(SimulationContext& context, Store& store, Subscribers& subscribers, std::string name,
              JobCompletion complete, std::function<void()> die);

private:
    using Id = detail::LeaseLoop::Id;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override { loop_.close(deadline); }
    [[nodiscard]] bool closed() const override { return loop_.retired(); }

    void acquired(Id id, const Lease& lease) override;
    void settled(Id id, Settlement settlement) override;
    void unfit(Id id, const Error& error) override;

    /// Ends an attempt, even if the lease of its job was lost.
    void end(Id id, const Lease& lease, const Attempt& attempt);
    void settle(Id id, bool done);
    /// Calls `what` after `span`, unless the process is dead by then. While the process stalls, the
    /// call is delayed.
    void later(Duration span, std::function<void()> what);

    SimulationContext& context_;
    Subscribers& subscribers_;
    JobCompletion complete_;
    std::function<void()> die_;
    Link link_;
    detail::LeaseLoop loop_;
    std::function<void()> wake_;
    std::set<Id> under_way_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace routemaster::simulation
