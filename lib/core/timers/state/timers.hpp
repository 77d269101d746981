/// @file
/// `TimerTable`: the timers of the state machine.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/containers/hash_index.hpp"
#include "core/containers/keyed_hash.hpp"
#include "core/containers/slab.hpp"
#include "core/containers/small_blocks.hpp"
#include "core/containers/timed_buckets.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/wake_ups.hpp"
#include "core/timers/state/stored_timer.hpp"
#include "core/timers/state/timer_turns.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/store/step/dead_timers.hpp"
#include "routemaster/store/step/timer_firings.hpp"
#include "routemaster/store/step/timers.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// A namespace of timers. Exists while it has timers or listeners.
struct TimerSpace {
    /// Sorted by `at` and, with equal times, by id.
    using InOrder = TimedBuckets<StoredTimer>;

    TimerSpace(std::string what, InOrder::Memory& memory, TimerListenersByAge& all)
        : name{std::move(what)},
          by_state{InOrder{memory}, InOrder{memory}, InOrder{memory}},
          turns{*this, all} {}

    [[nodiscard]] InOrder& in(TimerState state) noexcept {
        return by_state[static_cast<std::size_t>(state)];
    }
    [[nodiscard]] const InOrder& in(TimerState state) const noexcept {
        return by_state[static_cast<std::size_t>(state)];
    }
    /// Why a timer is DEAD; empty if no reason was recorded.
    [[nodiscard]] std::string_view reason_of(const StoredTimer& timer) const;
    /// When the next timer fires, is retried or becomes DEAD.
    [[nodiscard]] TimePoint next_at() const noexcept;

    std::string name;
    HashIndex<StoredTimer> by_id;
    std::array<InOrder, 3> by_state;
    TimerTurns turns;
    std::unordered_map<const StoredTimer*, std::string> reasons;
    /// The process that fired the FIRED timers has ended, and will never confirm these timers.
    bool holders_gone = false;
};

/// Table of all timers and their listeners.
///
/// Not thread safe.
class TimerTable {
public:
    /// The referenced objects must outlive the table.
    TimerTable(ChangeLog& changes, CounterTable& counters, WakeUps& wake_ups);
    TimerTable(const TimerTable&) = delete;
    TimerTable& operator=(const TimerTable&) = delete;
    ~TimerTable();

    [[nodiscard]] std::size_t spaces() const noexcept { return spaces_.size(); }

    [[nodiscard]] bool has_space(const std::string& name) const { return spaces_.contains(name); }

    [[nodiscard]] StoredTimer* find(const std::string& space, std::string_view id);

    /// Prefetches the timers of the first `prefetched_max` steps into the processor's cache. To be
    /// called before these steps are performed. Changes nothing.
    void fetch_ahead(std::span<const Step> steps) const noexcept;

    // These functions perform the steps of the same names.

    TimerPosted post(const PostTimer& step, TimePoint now);
    Removal cancel(const CancelTimer& step);
    Count postpone(const PostponeTimer& step, TimePoint now);
    TakenTimers take(const TakeTimers& step, TimePoint now);
    TimerConfirmed confirm(const ConfirmTimer& step);
    /// The timer whose firing a step confirms. Null when no such firing awaits confirmation.
    [[nodiscard]] StoredTimer* meant(const ConfirmTimer& step);
    Count give_up(const GiveUpTimer& step, TimePoint now);
    void leave(const LeaveTimers& step, TimePoint now);
    Count repost(const RepostDeadTimers& step, TimePoint now);
    Count drop(const DropDeadTimers& step);
    [[nodiscard]] std::vector<TimerStatus> list(const ListTimers& step) const;
    [[nodiscard]] TimerCounts count(const CountTimers& step) const;

    [[nodiscard]] static TimerStatus status_of(const StoredTimer& timer);

    // --- For a journal --------------------------------------------------------------------------

    /// Creates or replaces the timer with this id. The caller sets its state and time. Restored
    /// timers are unsorted until `settle_restored`.
    StoredTimer& restore(const std::string& space, std::string_view id,
                         const TimerContent& content);
    /// Stores why a timer is DEAD. An empty text removes the reason.
    static void keep_reason(StoredTimer& timer, std::string_view reason);
    void unrestore(StoredTimer& timer);
    /// Must be called after all timers were restored.
    void settle_restored();
    /// Must be called when the process that fired the FIRED timers has ended. In each namespace,
    /// the next `take` returns these timers to PENDING before it fires any timer.
    void end_firings() noexcept {
        for (auto& [name, space] : spaces_) space.holders_gone = true;
    }

    /// Calls `visit` with each timer, namespace by namespace.
    template <class Visit>
    void each(Visit visit) const {
        for (const auto& [name, space] : spaces_) space.by_id.each(visit);
    }

private:
    [[nodiscard]] std::uint32_t hash(std::string_view id) const noexcept {
        return static_cast<std::uint32_t>(hash_(id));
    }
    [[nodiscard]] StoredTimer* find(const TimerSpace& space, std::string_view id,
                                    std::uint32_t hash) const;
    [[nodiscard]] TimerSpace* find_space(const std::string& name);
    TimerSpace& open(const std::string& name);
    void close_if_empty(TimerSpace& space);

    void destroy(StoredTimer& timer) noexcept;
    StoredTimer& make(TimerSpace& space, std::string_view id, std::uint32_t hash,
                      const TimerContent& content);
    /// Changes the state and time of a timer, and moves it to the list of the state.
    void change(StoredTimer& timer, TimerState state, TimePoint at);
    /// Removes a timer, and its namespace if empty.
    void remove(StoredTimer& timer);
    /// Removes a timer, but not its namespace.
    void erase(StoredTimer& timer);

    /// Returns timers that were not confirmed in time to PENDING, or makes them DEAD when their
    /// retries are used up.
    void put_back(TimerSpace& space, TimePoint now);
    void die(StoredTimer& timer, TimePoint now);
    /// Prefetches the data needed to remove the first timers of `timers`, which must not be empty,
    /// into the processor's cache. Returns the number of prefetched timers.
    std::size_t fetch_first(const TimerSpace& space,
                            const TimerSpace::InOrder& timers) const noexcept;
    [[nodiscard]] std::vector<FiredTimer> fire(TimerSpace& space, const TakeTimers& step,
                                               TimePoint now);
    void forget(TimerListener& listener);
    /// Calls `act` with the DEAD timer `id` of a namespace. Without `id`, calls `act` with all DEAD
    /// timers of the namespace, at most `taken_timers_max`. `act` must remove the timer from the
    /// DEAD timers. Returns the number of calls.
    template <class Act>
    Count each_dead(TimerSpace& space, const std::optional<std::string>& id, Act act);

    /// Wakes listeners if they must poll earlier than their last replies said. `before` is when the
    /// next timer was due before the change.
    void wake_if_sooner(TimerSpace& space, TimePoint before, TimePoint now);
    void wake(TimerSpace& space, TimePoint now);

    ChangeLog& changes_;
    CounterTable& counters_;
    WakeUps& wake_ups_;
    /// A keyed hash, because clients choose the ids and could choose colliding ones. No order
    /// depends on the hash.
    KeyedHash hash_;
    TimerListenersByAge by_age_;
    TimerSpace::InOrder::Memory buckets_;
    std::map<std::string, TimerSpace> spaces_;
    SmallBlocks texts_;
    Slab<StoredTimer> timers_;
};

}  // namespace routemaster::detail
