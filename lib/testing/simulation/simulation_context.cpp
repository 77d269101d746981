#include "simulation_context.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace routemaster::simulation {

SimulationContext::SimulationContext(std::uint64_t seed, const testing::WorldOptions& options)
    : random{scatter(seed)},
      disturbed_until{clock.now()},
      seed_{seed},
      trace_max_{options.trace},
      begun_at_{clock.now()},
      moment_{begun_at_},
      hash_{scatter(seed)} {}

void SimulationContext::after(Duration span, std::function<void()> what) {
    events_.emplace(
        std::pair{moment_ + std::max(span, Duration{0}), std::pair{random.next(), ++numbers_}},
        std::move(what));
}

void SimulationContext::set_clock(Duration by) {
    note("the clock is set " + std::to_string(std::abs(by.count())) + " ms " +
         (by < Duration{0} ? "back" : "forth"));
    clock_was_set_ = true;
    set_forth_ += std::max(by, Duration{0});
    clock.advance(by);
    disturb();
}

bool SimulationContext::step() {
    if (events_.empty()) return false;
    auto next = events_.extract(events_.begin());
    const auto due = next.key().first;
    clock.advance(due - std::exchange(moment_, due));
    ++steps_;
    next.mapped()();
    return true;
}

void SimulationContext::note(std::string text) {
    const auto at = moment();
    hash_ = scatter(hash_ ^ static_cast<std::uint64_t>(to_milliseconds(at)));
    for (const char letter : text) {
        hash_ = (hash_ ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    if (trace_max_ == 0) return;
    if (trace_.size() == trace_max_) trace_.pop_front();
    trace_.push_back({steps_, at, std::move(text)});
}

void SimulationContext::fail(const std::string& broken) const {
    std::string trace;
    for (const auto& action : trace_) {
        trace += "step " + std::to_string(action.step) + ", " +
                 std::to_string((action.at - begun_at_).count()) + " ms: " + action.text + '\n';
    }
    throw testing::SimulationFailure{seed_, steps_, broken, trace};
}

}  // namespace routemaster::simulation
