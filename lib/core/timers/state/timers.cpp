#include "core/timers/state/timers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/codec/cut_text.hpp"
#include "core/containers/prefetch.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/entropy.hpp"

namespace routemaster::detail {
namespace {

/// The value of `FiredTimer::firing` for a timer that is retried at `back_at` unless confirmed. It
/// identifies the firing, because later firings have later times.
std::int64_t firing_of(TimePoint back_at) { return to_milliseconds(back_at); }

}  // namespace

TimePoint TimerSpace::next_at() const noexcept {
    if (holders_gone && !in(TimerState::fired).empty()) return TimePoint{};
    auto next = never;
    for (const auto state : {TimerState::pending, TimerState::fired}) {
        const auto& timers = in(state);
        if (!timers.empty()) next = std::min(next, timers.first().at);
    }
    return next;
}

std::string_view TimerSpace::reason_of(const StoredTimer& timer) const {
    const auto found = reasons.find(&timer);
    return found == reasons.end() ? std::string_view{} : found->second;
}

TimerTable::TimerTable(ChangeLog& changes, CounterTable& counters, WakeUps& wake_ups)
    : changes_{changes}, counters_{counters}, wake_ups_{wake_ups}, hash_{entropy(), entropy()} {}

TimerTable::~TimerTable() {
    each([this](StoredTimer& timer) { destroy(timer); });
}

// --- Posting and finding ------------------------------------------------------------------------

StoredTimer* TimerTable::find(const std::string& space, std::string_view id) {
    const auto* in = find_space(space);
    return in == nullptr ? nullptr : find(*in, id, hash(id));
}

StoredTimer* TimerTable::find(const TimerSpace& space, std::string_view id,
                              std::uint32_t hash) const {
    return space.by_id.find(hash, [id](const StoredTimer& any) { return any.id() == id; });
}

TimerPosted TimerTable::post(const PostTimer& step, TimePoint now) {
    auto& space = open(step.space);
    const TimerContent content{step.payload, step.retries_max, step.confirm_within};
    const auto next = space.next_at();
    const auto hashed = hash(step.id);
    auto* present = find(space, step.id, hashed);
    if (present != nullptr) {
        if (step.keep && present->state != TimerState::dead) return TimerPosted::kept;
        space.in(present->state).remove(*present);
        space.reasons.erase(present);
        present->replace(content, texts_);
    }
    auto& timer = present != nullptr ? *present : make(space, step.id, hashed, content);
    timer.state = TimerState::pending;
    timer.at = step.due_at;
    space.in(timer.state).insert(timer);
    changes_.changed(timer);
    wake_if_sooner(space, next, now);
    return present != nullptr ? TimerPosted::replaced : TimerPosted::posted;
}

Removal TimerTable::cancel(const CancelTimer& step) {
    auto* timer = find(step.space, step.id);
    if (timer == nullptr || timer->state == TimerState::dead) return Removal::unknown;
    remove(*timer);
    return Removal::removed;
}

Count TimerTable::postpone(const PostponeTimer& step, TimePoint now) {
    auto* timer = find(step.space, step.id);
    if (timer == nullptr || timer->state != TimerState::pending) return Count{0};
    if (timer->at == step.due_at) return Count{1};
    const auto next = timer->space.next_at();
    change(*timer, TimerState::pending, step.due_at);
    wake_if_sooner(timer->space, next, now);
    return Count{1};
}

std::vector<TimerStatus> TimerTable::list(const ListTimers& step) const {
    std::vector<TimerStatus> listed;
    const auto found = spaces_.find(step.space);
    if (found == spaces_.end()) return listed;
    std::size_t bytes = 0;
    const auto& in_order = found->second.in(step.state);
    in_order.visit_from(step.from, step.after, [&](const StoredTimer& timer) {
        if (timer.at > step.until || listed.size() == step.limit) return false;
        bytes += timer.payload().size();
        if (!listed.empty() && bytes > timer_slice_bytes_max) return false;
        listed.push_back(status_of(timer));
        return true;
    });
    return listed;
}

TimerCounts TimerTable::count(const CountTimers& step) const {
    TimerCounts counts;
    const auto found = spaces_.find(step.space);
    if (found == spaces_.end()) return counts;
    const auto& space = found->second;
    const auto& pending = space.in(TimerState::pending);
    counts.pending = pending.size();
    counts.fired = space.in(TimerState::fired).size();
    counts.dead = space.in(TimerState::dead).size();
    counts.listeners = space.turns.size();
    if (!pending.empty()) counts.next_due = pending.first().at;
    return counts;
}

TimerStatus TimerTable::status_of(const StoredTimer& timer) {
    auto payload = decode_value(timer.payload());
    return {.id = std::string{timer.id()},
            .payload = payload ? *std::move(payload) : Value{},
            .state = timer.state,
            .at = timer.at,
            .retries = timer.retries(),
            .retries_max = timer.retries_max(),
            .reason = std::string{timer.space.reason_of(timer)}};
}

// --- Firing -------------------------------------------------------------------------------------

TakenTimers TimerTable::take(const TakeTimers& step, TimePoint now) {
    const bool busy = step.limit == 0;
    auto* present = find_space(step.space);
    if (busy && present == nullptr) return {};
    auto& space = present != nullptr ? *present : open(step.space);
    put_back(space, now);
    TakenTimers taken;
    if (busy) {
        space.turns.leave(step.listener);
    } else {
        auto& listener = space.turns.ask(step.listener, now);
        if (by_age_.size() > timer_listeners_max) forget(*by_age_.front());
        if (!space.holders_gone) taken.timers = fire(space, step, now);
        if (!taken.timers.empty()) space.turns.took(listener);
        taken.wake_at = space.turns.tell(listener, space.next_at(), now);
    }
    wake(space, now);
    close_if_empty(space);
    return taken;
}

void TimerTable::put_back(TimerSpace& space, TimePoint now) {
    const auto& fired = space.in(TimerState::fired);
    for (std::uint32_t left = taken_timers_max; left > 0 && !fired.empty(); --left) {
        auto& timer = fired.first();
        if (timer.at > now && !space.holders_gone) return;
        if (timer.retries() == timer.retries_max()) {
            die(timer, now);
            continue;
        }
        timer.set_retries(timer.retries() + 1);
        change(timer, TimerState::pending, std::min(timer.at, now));
    }
    if (fired.empty()) space.holders_gone = false;
}

void TimerTable::die(StoredTimer& timer, TimePoint now) {
    auto& space = timer.space;
    change(timer, TimerState::dead, now);
    const auto& dead = space.in(TimerState::dead);
    if (dead.size() <= dead_timers_max) return;
    erase(dead.first());
    counters_.add({"timers.forgotten", {{"namespace", space.name}}}, 1);
}

std::vector<FiredTimer> TimerTable::fire(TimerSpace& space, const TakeTimers& step, TimePoint now) {
    std::vector<FiredTimer> fired;
    std::size_t fetched = 0;
    std::size_t bytes = 0;
    const auto& pending = space.in(TimerState::pending);
    while (fired.size() < step.limit && !pending.empty() && pending.first().at <= now) {
        if (fetched == 0) fetched = fetch_first(space, pending);
        --fetched;
        auto& timer = pending.first();
        bytes += timer.payload().size();
        if (!fired.empty() && bytes > timer_slice_bytes_max) break;
        fired.push_back({.id = std::string{timer.id()},
                         .payload = std::string{timer.payload()},
                         .due_at = timer.at,
                         .retries = timer.retries(),
                         .retries_max = timer.retries_max()});
        if (timer.retries_max() == 0) {
            erase(timer);
            continue;
        }
        const auto own = timer.confirm_within();
        const auto within = own == Duration{0} ? step.confirm_within : own;
        fired.back().confirm_by = saturating_add(now, within);
        fired.back().firing = firing_of(fired.back().confirm_by);
        change(timer, TimerState::fired, fired.back().confirm_by);
    }
    return fired;
}

StoredTimer* TimerTable::meant(const ConfirmTimer& step) {
    auto* timer = find(step.space, step.id);
    const bool is_meant = timer != nullptr && timer->state == TimerState::fired &&
                          step.retries.value_or(timer->retries()) == timer->retries() &&
                          step.firing.value_or(firing_of(timer->at)) == firing_of(timer->at);
    return is_meant ? timer : nullptr;
}

TimerConfirmed TimerTable::confirm(const ConfirmTimer& step) {
    auto* timer = meant(step);
    if (timer == nullptr) return TimerConfirmed::unknown;
    remove(*timer);
    return TimerConfirmed::confirmed;
}

Count TimerTable::give_up(const GiveUpTimer& step, TimePoint now) {
    auto* timer = meant({step.space, step.id, step.retries, step.firing});
    if (timer == nullptr) return Count{0};
    keep_reason(*timer, cut_text(step.reason, timer_reason_max));
    die(*timer, now);
    return Count{1};
}

/// Removes a listener. Its namespace is destroyed if it is empty then.
void TimerTable::forget(TimerListener& listener) {
    auto& space = listener.space;
    space.turns.leave(*listener.name);
    close_if_empty(space);
}

void TimerTable::leave(const LeaveTimers& step, TimePoint now) {
    auto* space = find_space(step.space);
    if (space == nullptr) return;
    space->turns.leave(step.listener);
    wake(*space, now);
    close_if_empty(*space);
}

// --- DEAD timers --------------------------------------------------------------------------------

template <class Act>
Count TimerTable::each_dead(TimerSpace& space, const std::optional<std::string>& id, Act act) {
    if (id) {
        auto* timer = find(space, *id, hash(*id));
        if (timer == nullptr || timer->state != TimerState::dead) return Count{0};
        act(*timer);
        return Count{1};
    }
    const auto& dead = space.in(TimerState::dead);
    std::uint64_t count = 0;
    for (; count < taken_timers_max && !dead.empty(); ++count) act(dead.first());
    return Count{count};
}

Count TimerTable::repost(const RepostDeadTimers& step, TimePoint now) {
    auto* space = find_space(step.space);
    if (space == nullptr) return Count{0};
    const auto next = space->next_at();
    const auto count = each_dead(*space, step.id, [&](StoredTimer& timer) {
        timer.set_retries(0);
        change(timer, TimerState::pending, step.due_at);
    });
    wake_if_sooner(*space, next, now);
    return count;
}

Count TimerTable::drop(const DropDeadTimers& step) {
    auto* space = find_space(step.space);
    if (space == nullptr) return Count{0};
    const auto count = each_dead(*space, step.id, [this](StoredTimer& timer) { erase(timer); });
    close_if_empty(*space);
    return count;
}

// --- Restoring ----------------------------------------------------------------------------------

StoredTimer& TimerTable::restore(const std::string& name, std::string_view id,
                                 const TimerContent& content) {
    auto& space = open(name);
    const auto hashed = hash(id);
    auto* present = find(space, id, hashed);
    if (present == nullptr) return make(space, id, hashed, content);
    present->replace(content, texts_);
    return *present;
}

void TimerTable::keep_reason(StoredTimer& timer, std::string_view reason) {
    auto& reasons = timer.space.reasons;
    if (reason.empty()) {
        reasons.erase(&timer);
    } else {
        reasons.insert_or_assign(&timer, std::string{reason});
    }
}

void TimerTable::unrestore(StoredTimer& timer) {
    auto& space = timer.space;
    space.reasons.erase(&timer);
    space.by_id.remove(hash(timer.id()), timer);
    destroy(timer);
    close_if_empty(space);
}

void TimerTable::settle_restored() {
    for (auto& [name, space] : spaces_) {
        std::vector<std::pair<TimePoint, StoredTimer*>> timers;
        timers.reserve(space.by_id.size());
        space.by_id.each([&](StoredTimer& timer) { timers.emplace_back(timer.at, &timer); });
        // Inserted in the order of time, timers fill the buckets completely.
        std::sort(timers.begin(), timers.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t n = 0; n < timers.size(); ++n) {
            if (n + prefetched_max < timers.size()) prefetch(timers[n + prefetched_max].second);
            auto& timer = *timers[n].second;
            space.in(timer.state).insert(timer);
        }
    }
}

// --- Places -------------------------------------------------------------------------------------

TimerSpace* TimerTable::find_space(const std::string& name) {
    const auto found = spaces_.find(name);
    return found == spaces_.end() ? nullptr : &found->second;
}

TimerSpace& TimerTable::open(const std::string& name) {
    return spaces_.try_emplace(name, name, buckets_, by_age_).first->second;
}

void TimerTable::close_if_empty(TimerSpace& space) {
    if (space.by_id.empty() && space.turns.empty()) spaces_.erase(spaces_.find(space.name));
}

void TimerTable::destroy(StoredTimer& timer) noexcept {
    timer.release(texts_);
    timers_.destroy(timer);
}

StoredTimer& TimerTable::make(TimerSpace& space, std::string_view id, std::uint32_t hash,
                              const TimerContent& content) {
    auto& timer = timers_.make(space, id, content, texts_);
    space.by_id.insert(hash, timer);
    return timer;
}

void TimerTable::change(StoredTimer& timer, TimerState state, TimePoint at) {
    auto& space = timer.space;
    space.in(timer.state).remove(timer);
    if (timer.state == TimerState::dead) space.reasons.erase(&timer);
    timer.state = state;
    timer.at = at;
    space.in(state).insert(timer);
    changes_.moved(timer);
}

void TimerTable::remove(StoredTimer& timer) {
    auto& space = timer.space;
    erase(timer);
    close_if_empty(space);
}

void TimerTable::erase(StoredTimer& timer) {
    auto& space = timer.space;
    space.in(timer.state).remove(timer);
    if (timer.state == TimerState::dead) space.reasons.erase(&timer);
    space.by_id.remove(hash(timer.id()), timer);
    changes_.gone(timer);
    destroy(timer);
}

// --- Wake-ups -----------------------------------------------------------------------------------

void TimerTable::wake_if_sooner(TimerSpace& space, TimePoint before, TimePoint now) {
    if (space.next_at() < before) wake(space, now);
}

void TimerTable::wake(TimerSpace& space, TimePoint now) {
    space.turns.update(space.next_at(), now, [&](const std::string& listener) {
        wake_ups_.wake_watch(timer_watch(space.name, listener));
    });
}

}  // namespace routemaster::detail
