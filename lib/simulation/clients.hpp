/// @file
/// The clients of a simulated world.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "job_batch_client.hpp"
#include "link.hpp"
#include "oracle.hpp"
#include "rate_client.hpp"
#include "recurring_client.hpp"
#include "routemaster/store.hpp"
#include "simulation_context.hpp"
#include "timer_client.hpp"

namespace routemaster::simulation {

inline constexpr std::array topics{"orders", "refunds", "stock"};

/// The topic of events that follow from jobs. Their numbers are assigned long before the events are
/// published. Subscribers that check the order of numbers therefore do not subscribe to it.
inline constexpr const char* follow_up_topic = "follow_ups";

/// Clients that repeatedly publish events, push jobs, and use the further features enabled in the
/// options of the world. Not thread safe.
class Clients {
public:
    /// Draws the pace of the clients. All arguments must outlive this object.
    Clients(SimulationContext& context, Store& store, Oracle& oracle,
            const testing::WorldOptions& options);

    /// Starts the clients.
    void begin();

    /// From now on clients start no new work, and only finish work under way.
    void heal() { healing_ = true; }

    /// Pauses all recurring jobs.
    void pause_recurring();

    /// Completes a job with a follow-up job, and sometimes an event. Each follow-up has a unique
    /// number.
    [[nodiscard]] CompleteJob completion(const Lease& lease);

private:
    void begin_one();

    // Each of these repeats its action for one client.
    void let_publish(Link& client);
    void let_push(Link& client);
    void let_act(TimerClient& client);
    void let_act(RecurringClient& client);
    void let_act(JobBatchClient& client);
    void let_take_timers(RecurringClient& client);
    void let_limit();

    void publish(Link& client);
    [[nodiscard]] PublishEvent next_publication(const std::string& topic);
    [[nodiscard]] Uid drawn_uid();
    void push(Link& client);
    void push_doomed(Link& client);

    SimulationContext& context_;
    Store& store_;
    Oracle& oracle_;
    const testing::WorldOptions& options_;
    Duration pace_;  // Drawn per world: some worlds are busy, others last longer.
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<std::unique_ptr<TimerClient>> timer_clients_;
    std::vector<std::unique_ptr<RecurringClient>> recurring_clients_;
    std::vector<std::unique_ptr<JobBatchClient>> batch_clients_;
    std::unique_ptr<RateClient> rate_client_;
    std::uint64_t last_event_ = 0;
    std::uint64_t last_follow_up_ = 0;
    std::uint64_t last_doomed_ = 0;
    std::int64_t last_timer_ = 0;
    std::int64_t last_job_batch_ = 0;
    std::int64_t last_batched_job_ = 0;
    bool healing_ = false;
};

}  // namespace routemaster::simulation
