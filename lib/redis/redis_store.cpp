#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/store/refused_steps.hpp"
#include "core/store/watchers.hpp"
#include "core/system/owner_process.hpp"
#include "index_repair.hpp"
#include "link.hpp"
#include "routemaster/store/completion_thread.hpp"
#include "routemaster/store/redis.hpp"
#include "step_call.hpp"
#include "timer_channel.hpp"

namespace routemaster {
namespace {

/// The steps of one submission, until each step has an `Outcome`.
struct SubmittedSteps {
    std::vector<Outcome> outcomes;
    std::atomic<std::size_t> open;
    Completion done;

    void settle(std::size_t index, Outcome outcome) {
        outcomes[index] = std::move(outcome);
        if (open.fetch_sub(1, std::memory_order_acq_rel) == 1) done(outcomes);
    }
};

}  // namespace

struct RedisStore::Impl {
    explicit Impl(RedisOptions settings)
        : options{std::move(settings)},
          link{options, options.prefix + "routemaster:wake",
               [this](std::string_view queue) {
                   // An empty name means that messages may have been missed. All watchers are then
                   // notified.
                   if (queue.empty()) return watchers.wake_all();
                   watchers.wake({std::string{queue}});
               },
               [this](const std::string& channel) {
                   watchers.wake({redis::watch_of_timer_channel(options.prefix, channel)});
               }} {}

    const detail::OwnerProcess process{"store", "opened", "open"};
    const RedisOptions options;
    detail::Watchers watchers;
    redis::Link link;  // The last member, because its thread uses the members above.
};

RedisStore::RedisStore(RedisOptions options) : impl_{std::make_unique<Impl>(std::move(options))} {
    impl_->link.wait_until_connected(impl_->options.timeout).value();
}

RedisStore::~RedisStore() { detail::leave_to_parent(impl_); }

void RedisStore::submit(std::span<Step> steps, TimePoint now, Completion done) {
    if (!impl_->process.is_this()) {
        return detail::refuse(steps, done, impl_->process.refusal());
    }
    if (steps.empty()) return done({});
    auto submitted = std::make_shared<SubmittedSteps>();
    submitted->outcomes.assign(steps.size(), Outcome{Error{Errc::cancelled, {}}});
    submitted->open = steps.size();
    submitted->done = std::move(done);

    const auto& options = impl_->options;
    auto& link = impl_->link;
    const redis::RequestContext context{options.prefix,         options.mixed_fleet,
                                        options.event_data_max, options.timeout,
                                        link.clock_offset(),    now};
    std::vector<redis::Call> calls;
    calls.reserve(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        auto made = redis::step_call(steps[i], context);
        if (!made) {
            submitted->settle(i, made.error());
            continue;
        }
        auto& call = calls.emplace_back(std::move(made->call));
        call.done = [submitted, i,
                     reader = std::move(made->reader)](const redis::CallResult& result) {
            submitted->settle(i, reader.read(result));
        };
        if (const auto names = made->listed_names; !names.empty()) {
            call = redis::with_index_repair(std::move(call), link, options.prefix, names);
        }
    }
    if (!calls.empty()) link.send(calls);
}

Watch RedisStore::watch(const std::string& queue, std::function<void()> wake) {
    auto watch = detail::own(impl_).watchers.add(queue, std::move(wake));
    auto channel = redis::timer_channel(impl_->options.prefix, queue);
    if (!channel) return watch;
    auto channels = impl_->link.further_channels();
    channels->add(*channel);
    // A listener that misses a wake-up for timers is declared dead. `watch` therefore waits until
    // the subscription to its channel is active.
    if (!CompletionThread::is_this()) {
        channels->wait_until_heard(*channel, impl_->options.timeout);
    }
    return Watch{[channels = std::move(channels), channel = *std::move(channel),
                  process = impl_->process, watch = std::make_shared<Watch>(std::move(watch))] {
        if (!process.is_this()) return;
        *watch = Watch{};
        channels->remove(channel);
    }};
}

}  // namespace routemaster
