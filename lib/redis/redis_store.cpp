#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/store/watchers.hpp"
#include "link.hpp"
#include "replies.hpp"
#include "requests.hpp"
#include "routemaster/store/redis.hpp"
#include "scripts.hpp"

namespace routemaster {
namespace {

/// Steps that were submitted together, until the last is answered.
struct Submission {
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
          link{options, redis::all_scripts(), options.prefix + "routemaster:wake",
               [this](std::string_view queue) { wake(queue); }} {
        link.wait_until_connected(options.timeout).value();
    }

    void submit(std::span<Step> steps, TimePoint now, Completion done) {
        if (steps.empty()) return done({});
        auto submission = std::make_shared<Submission>();
        submission->outcomes.assign(steps.size(), Outcome{Error{Errc::cancelled, {}}});
        submission->open = steps.size();
        submission->done = std::move(done);

        const redis::RequestContext context{options.prefix, options.mixed_fleet,
                                            link.clock_offset(), now};
        std::vector<redis::Call> calls;
        calls.reserve(steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            auto call = redis::request(steps[i], context);
            if (!call) {
                submission->settle(i, call.error());
                continue;
            }
            call->done =
                [submission, i, reader = redis::ReplyReader{steps[i], context.clock_offset}](
                    const redis::Answer& answer) { submission->settle(i, reader.read(answer)); };
            calls.push_back(*std::move(call));
        }
        if (!calls.empty()) link.send(calls);
    }

    /// No queue stands for messages that may have been missed.
    void wake(std::string_view queue) {
        if (queue.empty()) {
            watchers.wake_all();
        } else {
            watchers.wake({std::string{queue}});
        }
    }

    const RedisOptions options;
    detail::Watchers watchers;
    redis::Link link;  // Last: its thread uses the rest.
};

RedisStore::RedisStore(RedisOptions options) : impl_{std::make_unique<Impl>(std::move(options))} {}
RedisStore::~RedisStore() = default;

void RedisStore::submit(std::span<Step> steps, TimePoint now, Completion done) {
    impl_->submit(steps, now, std::move(done));
}

Watch RedisStore::watch(const std::string& queue, std::function<void()> wake) {
    return impl_->watchers.add(queue, std::move(wake));
}

}  // namespace routemaster
