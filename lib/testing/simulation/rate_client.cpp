#include "rate_client.hpp"

#include <cstdint>

#include "routemaster/store/perform.hpp"
#include "routemaster/store/step/queues.hpp"
#include "testing/conformance/text.hpp"

namespace routemaster::simulation {

void RateClient::act() {
    const auto which = context_.random.below(8);
    if (which < 6) limits_ = {};
    if (which < 2 || which == 4) limits_.queue = drawn();
    if (which >= 2 && which < 5) limits_.each_group = drawn();
    context_.note("limit " + queue_ + ": " + testing::Text::of(limits_));
    submit(link_, LimitQueue{queue_, limits_}, context_.now(), [](const Result<Done>&) {});
}

/// Draws a limit under which jobs must wait, but which lets the queue drain before the end of a
/// world.
RateLimit RateClient::drawn() {
    const auto jobs = static_cast<std::uint32_t>(1 + context_.random.below(4));
    return {.jobs = jobs,
            .per = Duration{jobs * (200 + context_.up_to(Duration{800}).count())},
            .burst = static_cast<std::uint32_t>(context_.random.below(5))};
}

}  // namespace routemaster::simulation
