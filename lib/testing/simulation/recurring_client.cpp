#include "recurring_client.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include "recurring_accounts.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job.hpp"
#include "routemaster/store/perform.hpp"

namespace routemaster::simulation {
namespace {

struct RecurringKind {
    const char* schedule;
    CatchUp catch_up;
    bool overlap;
    bool timer;
};

/// A schedule with rare ticks. When the clock is set forward, it is a minute late, and
/// `CatchUp::skip` then skips a tick.
constexpr std::array recurring_kinds{
    RecurringKind{"@every 2s", CatchUp::all, true, false},
    RecurringKind{"@every 3s", CatchUp::all, true, true},
    RecurringKind{"*/5 * * * * *", CatchUp::once, false, false},
    RecurringKind{"@every 75s", CatchUp::skip, true, false},
    RecurringKind{"@every 7s", CatchUp::once, true, true},
    RecurringKind{"@every 4s", CatchUp::skip, false, true},
};

constexpr const char* other_schedule = "@every 6s";

std::string recurring_name(std::size_t which) { return "recurring-" + std::to_string(which); }

/// A text of less than 256 bytes, in an encoding of MessagePack (str 8) that `encode` uses for
/// longer texts.
std::string long_text(const std::string& text) {
    return std::string{'\xd9', static_cast<char>(text.size())} + text;
}

RecurringSettings settings_of_kind(const RecurringKind& kind, const std::string& name) {
    RecurringSettings settings{
        .schedule = kind.schedule, .catch_up = kind.catch_up, .overlap = kind.overlap};
    if (kind.timer) {
        settings.timer = RecurringTimer{.space = tick_space, .payload = encode(Value{name})};
    } else {
        settings.queue = tick_queue;
        settings.job = encode_job({tick_name, {name}});
        settings.attempts_max = 0;
    }
    return settings;
}

}  // namespace

RecurringClient::RecurringClient(SimulationContext& context, Store& store, std::size_t count)
    : context_{context}, count_{count}, link_{context, store}, recurring_{link_, context.clock} {
    for (std::size_t which = 0; which < count_; ++which) put(which);
}

void RecurringClient::act() {
    const auto which = static_cast<std::size_t>(context_.random.below(count_));
    const auto name = recurring_name(which);
    switch (context_.random.below(6)) {
        case 0: return put(which);
        case 1: return paused_.contains(name) ? resume(name) : pause(name);
        case 2: return resume(name);
        default: trigger(name);
    }
}

void RecurringClient::put(std::size_t which) {
    const auto name = recurring_name(which);
    auto settings = settings_of_kind(recurring_kinds[which % recurring_kinds.size()], name);
    if (context_.random.below(8) == 0) settings.schedule = other_schedule;
    // Changes a setting that does not affect the schedule.
    const auto other = static_cast<std::int32_t>(context_.random.below(2));
    if (settings.timer) {
        if (other != 0) settings.timer->payload = long_text(name);
    } else {
        settings.priority = other;
    }
    context_.note("put " + name + ", due " + settings.schedule);
    recurring_.put(name, std::move(settings), [](const Result<void>&) {});
}

void RecurringClient::pause(const std::string& name) {
    context_.note("pause " + name);
    paused_.insert(name);
    recurring_.pause(name, [](const Result<bool>&) {});
}

void RecurringClient::resume(const std::string& name) {
    if (paused_.erase(name) == 0) return;
    context_.note("resume " + name);
    recurring_.resume(name, [](const Result<bool>&) {});
}

/// Triggers the job, but never on a whole second, because ticks are on whole seconds.
void RecurringClient::trigger(const std::string& name) {
    if (to_milliseconds(context_.now()) % 1'000 == 0) return;
    context_.note("trigger " + name);
    recurring_.trigger(name, [](const Result<std::optional<Pushed>>&) {});
}

void RecurringClient::take_timers() {
    submit(link_, TakeTimers{.space = tick_space, .listener = "taker"}, context_.now(),
           [](const Result<TakenTimers>&) {});
}

void RecurringClient::pause_all() {
    for (std::size_t which = 0; which < count_; ++which) pause(recurring_name(which));
}

}  // namespace routemaster::simulation
