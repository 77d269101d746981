#include "timer_client.hpp"

#include "timer_accounts.hpp"

namespace routemaster::simulation {

TimerClient::TimerClient(SimulationContext& context, Store& store, std::size_t ids,
                         std::int64_t& last)
    : context_{context},
      ids_{ids},
      last_{last},
      link_{context, store},
      delayer_{link_, timer_space, context.clock} {}

void TimerClient::act() {
    const auto id = "timer-" + std::to_string(context_.random.below(ids_));
    switch (context_.random.below(10)) {
        case 0:
            context_.note("cancel " + id);
            return delayer_.cancel(id, [](const Result<Removal>&) {});
        case 1:
            context_.note("confirm " + id);
            return delayer_.confirm(id, {}, {}, [](const Result<TimerConfirmed>&) {});
        case 2:
        case 3:
            context_.note("postpone " + id);
            return delayer_.postpone(id, drawn_delay(), [](const Result<bool>&) {});
        default: post(id);
    }
}

void TimerClient::post(const std::string& id) {
    TimerOptions options{.id = id};
    // Half of the timers have no retries. Of the others, some can become DEAD, and some have a long
    // time to confirm.
    if (context_.random.below(2) == 0) {
        options.retries_max = static_cast<std::uint32_t>(1 + context_.random.below(3));
        if (context_.random.below(4) == 0) options.retries_max = timer_retries_max;
        if (context_.random.below(2) == 0) {
            options.confirm_within = Duration{500} + context_.up_to(Duration{4'000});
        }
    }
    const auto number = ++last_;
    context_.note("post " + id + " as number " + std::to_string(number) + ", with " +
                  std::to_string(options.retries_max) + " retries");
    delayer_.post(Value{number}, drawn_delay(), options, [](const Result<PostedTimer>&) {});
}

Duration TimerClient::drawn_delay() {
    return context_.up_to(Duration{std::int64_t{10} << context_.random.below(12)});
}

}  // namespace routemaster::simulation
