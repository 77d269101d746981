#include "stage.hpp"

#include <algorithm>
#include <string_view>

namespace routemaster::simulation {

Stage::Stage(std::uint64_t seed, const testing::WorldOptions& options)
    : random{scatter(seed)},
      disturbed_until{clock.now()},
      seed_{seed},
      trace_max_{options.trace},
      begun_at_{clock.now()},
      hash_{scatter(seed)} {}

void Stage::at(TimePoint when, std::function<void()> what) {
    events_.emplace(std::pair{std::max(when, now()), std::pair{random.next(), ++numbers_}},
                    std::move(what));
}

bool Stage::step() {
    if (events_.empty()) return false;
    auto next = events_.extract(events_.begin());
    clock.set(next.key().first);
    ++steps_;
    next.mapped()();
    return true;
}

void Stage::note(std::string text) {
    const auto at = now();
    hash_ = scatter(hash_ ^ static_cast<std::uint64_t>(to_milliseconds(at)));
    for (const char letter : text) {
        hash_ = (hash_ ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    if (trace_max_ == 0) return;
    if (trace_.size() == trace_max_) trace_.pop_front();
    trace_.push_back({steps_, at, std::move(text)});
}

void Stage::fail(const std::string& broken) const {
    std::string trace;
    for (const auto& action : trace_) {
        trace += "step " + std::to_string(action.step) + ", " +
                 std::to_string((action.at - begun_at_).count()) + " ms: " + action.text + '\n';
    }
    throw testing::SimulationFailure{seed_, steps_, broken, trace};
}

}  // namespace routemaster::simulation
