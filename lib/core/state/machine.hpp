/// @file
/// The state machine: the effects of each step. It has a single writer, no clock, no randomness and
/// no I/O. The domains are the readable specification of the steps, and the reference for tests of
/// all stores.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "core/bus/state/delivery_domain.hpp"
#include "core/bus/state/registry.hpp"
#include "core/bus/state/subscriber_domain.hpp"
#include "core/bus/state/subscriber_queues.hpp"
#include "core/bus/state/topic_domain.hpp"
#include "core/containers/prefetch.hpp"
#include "core/jobs/state/job_batch_domain.hpp"
#include "core/jobs/state/job_domain.hpp"
#include "core/jobs/state/job_table.hpp"
#include "core/jobs/state/recurring.hpp"
#include "core/jobs/state/recurring_domain.hpp"
#include "core/state/completion_domain.hpp"
#include "core/state/counter_domain.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/name_limits.hpp"
#include "core/state/step_scope.hpp"
#include "core/timers/state/timer_domain.hpp"
#include "core/timers/state/timers.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// State machine: all tables of a store, and the domains that perform steps on these tables. A
/// domain is a class with the steps on one subject, for example on timers. A domain has references
/// only to the tables that its steps may read or change. Not thread safe: the store serialises
/// calls.
class Machine {
public:
    /// `changes` must outlive the machine.
    explicit Machine(ChangeLog& changes, NameLimits limits = {});

    Outcome perform(Step& step, TimePoint now);

    /// How many steps `fetch_ahead` examines at most.
    static constexpr std::size_t ahead_max = prefetched_max;
    /// Prefetches the data of the first `ahead_max` steps into the processor's cache. To be called
    /// before these steps are performed. In a large state, most data of a step is not in the cache,
    /// and cache misses take longer than the step. Changes nothing.
    void fetch_ahead(std::span<const Step> steps) const noexcept;

    /// `StepScope::depends_on_row` of the last outcome.
    [[nodiscard]] std::uint64_t depends_on_row() const noexcept { return scope_.depends_on_row; }
    /// `StepScope::hurried` of the last outcome.
    [[nodiscard]] bool hurried() const noexcept { return scope_.hurried; }

    [[nodiscard]] CounterTable& counters() noexcept { return counters_; }
    [[nodiscard]] JobTable& jobs() noexcept { return jobs_; }
    [[nodiscard]] SubscriberQueueTable& subscriber_queues() noexcept { return subscriber_queues_; }
    [[nodiscard]] Registry& registry() noexcept { return registry_; }
    [[nodiscard]] RecurringTable& recurring() noexcept { return recurring_; }
    [[nodiscard]] TimerTable& timers() noexcept { return timers_; }
    [[nodiscard]] auto named_tables() noexcept {
        return std::tuple_cat(
            registry_.tables(),
            std::tie(jobs_.sequences(), jobs_.kept_keys().table(), jobs_.idempotency_keys().table(),
                     jobs_.queues().paused(), jobs_.queues().limited(), recurring_.table(),
                     jobs_.batches().table(), jobs_.batches().numbers()));
    }

    /// Links all restored entities to each other. To be called after every table was restored.
    void settle_restored();
    void mark_restored() { delivery_domain_.mark_restored(); }

private:
    StepScope scope_;
    CounterTable counters_;
    JobTable jobs_;
    SubscriberQueueTable subscriber_queues_;
    Registry registry_;
    RecurringTable recurring_;
    TimerTable timers_;

    TopicDomain topic_domain_;
    SubscriberDomain subscriber_domain_;
    DeliveryDomain delivery_domain_;
    JobDomain job_domain_;
    JobBatchDomain job_batch_domain_;
    TimerDomain timer_domain_;
    RecurringDomain recurring_domain_;
    CompletionDomain completion_domain_;
    CounterDomain counter_domain_;
};

using NamedTables = decltype(std::declval<Machine&>().named_tables());

}  // namespace routemaster::detail
