/// @file
/// `Clients`: the clients of a simulated world.

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

/// The topic of events that are follow-ups of jobs. The numbers of these events are assigned long
/// before they are published. Subscribers for which the order of numbers is checked therefore do
/// not subscribe to the topic.
inline constexpr const char* follow_up_topic = "follow_ups";

/// Simulated clients: publish events, push jobs, and use all further features enabled in the
/// options of the world, again and again. Not thread safe.
class Clients {
public:
    /// Draws the pace of the clients. All arguments must outlive this object.
    Clients(SimulationContext& context, Store& store, Oracle& oracle,
            const testing::WorldOptions& options);

    void begin();

    /// From now on, clients begin no new work, and complete only work in progress.
    void heal() { healing_ = true; }

    void pause_recurring();

    /// Completes a job with a follow-up job, and sometimes an event. Each follow-up has a unique
    /// number.
    [[nodiscard]] CompleteJob completion(const Lease& lease);

private:
    void begin_one();

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
    Duration pace_;  // Between actions. Drawn per world: some worlds are busier than others.
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
