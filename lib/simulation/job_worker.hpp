/// @file
/// A worker process that does jobs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "link.hpp"
#include "process.hpp"
#include "routemaster/active.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "subscribers.hpp"

namespace routemaster::simulation {

/// The queue of the jobs of a world.
inline constexpr const char* job_queue = "work";

/// One process that does jobs: acquires them, does each, and acks or nacks it until the store says
/// that it is settled. Not thread safe.
class JobWorker final : public Process, private Active {
public:
    /// `die` kills it. The others must outlive it.
    JobWorker(SimulationContext& context, Store& store, Subscribers& subscribers, std::string name,
              std::function<void()> die);

private:
    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override { wake_ = std::move(wake); }
    void close(TimePoint deadline) override { close_at_ = deadline; }
    [[nodiscard]] bool closed() const override { return retired_; }

    void acquire(TimePoint now);
    void acquired(const Acquired& acquired, TimePoint now);
    void begin(const Lease& lease);
    void end(const Lease& lease, const Attempt& attempt);
    void settle(const Lease& lease, bool done);
    template <class S>
    void settle(const Lease& lease, bool done, S step);
    void retire(TimePoint now);
    /// Polls again when it would sleep.
    void again();
    /// Lets something happen unless the process is dead by then; while it stalls it waits.
    void later(Duration span, std::function<void()> what);

    SimulationContext& context_;
    Subscribers& subscribers_;
    std::function<void()> die_;
    Link link_;
    Watch watch_;
    std::function<void()> wake_;
    std::map<std::uint64_t, Lease> held_;  // By fence.
    std::uint64_t newest_fence_ = 0;
    bool acquiring_ = false;
    TimePoint last_poll_{};
    TimePoint next_acquire_{};
    TimePoint next_heartbeat_{};
    TimePoint close_at_ = never;
    bool retiring_ = false;
    bool retired_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace routemaster::simulation
