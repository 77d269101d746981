#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

#include "core/containers/prefetch.hpp"
#include "core/timers/state/timers.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster::detail {
namespace {

struct NamedTimer {
    const std::string* space = nullptr;  ///< Null if the step refers to no timer.
    const std::string* id = nullptr;
    std::optional<TimePoint> due_at{};
};

NamedTimer timer_of(const Step& step) {
    return std::visit(
        [](const auto& any) -> NamedTimer {
            if constexpr (requires {
                              { any.space } -> std::same_as<const std::string&>;
                              { any.id } -> std::same_as<const std::string&>;
                          }) {
                if constexpr (std::is_same_v<decltype(any), const PostTimer&>) {
                    return {&any.space, &any.id, any.due_at};
                } else {
                    return {&any.space, &any.id};
                }
            } else {
                return {};
            }
        },
        step);
}

struct Sought {
    const TimerSpace* space;
    NamedTimer name;
    std::uint32_t hash;
    const StoredTimer* timer = nullptr;
    TimerSpace::InOrder::Spot spot = nullptr;
};

}  // namespace

void TimerTable::fetch_ahead(std::span<const Step> steps) const noexcept {
    steps = steps.first(std::min(steps.size(), prefetched_max));
    // Most submissions refer to no timer. They return before the array is set up.
    const auto names_timer = [](const Step& step) { return timer_of(step).space != nullptr; };
    if (spaces_.empty() || std::none_of(steps.begin(), steps.end(), names_timer)) return;
    std::array<Sought, prefetched_max> all;
    std::size_t count = 0;
    const TimerSpace* space = nullptr;
    for (const auto& step : steps) {
        const auto name = timer_of(step);
        if (name.space == nullptr || name.id->size() > timer_id_length_max) continue;
        if (space == nullptr || space->name != *name.space) {
            const auto found = spaces_.find(*name.space);
            if (found == spaces_.end()) continue;
            space = &found->second;
        }
        all[count] = {space, name, hash(*name.id)};
        space->by_id.fetch(all[count++].hash);
    }
    // A single step gains nothing: `guess` would only wait for the index entry that was just
    // prefetched.
    if (count < 2) return;
    const auto sought = std::span{all}.first(count);
    for (auto& each : sought) {
        each.timer = each.space->by_id.guess(each.hash);
        prefetch(each.timer);
    }
    for (auto& [in, name, hash, timer, spot] : sought) {
        if (timer != nullptr) {
            timer->fetch();
        } else if (name.due_at) {
            spot = in->in(TimerState::pending).spot(*name.due_at, *name.id);
        }
    }
    for (const auto& each : sought) TimerSpace::InOrder::fetch(each.spot);
}

std::size_t TimerTable::fetch_first(const TimerSpace& space,
                                    const TimerSpace::InOrder& timers) const noexcept {
    const auto few = timers.first_few();
    const auto first = few.last(std::min(few.size(), prefetched_max));
    for (const auto* timer : first) timer->fetch();
    for (const auto* timer : first) space.by_id.fetch(hash(timer->id()));
    return first.size();
}

}  // namespace routemaster::detail
