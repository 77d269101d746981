#include "routemaster/subscriber.hpp"

#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/url.hpp"

namespace routemaster {
namespace {

/// The largest number of steps needed to redeliver all DEAD batches of a subscriber.
constexpr std::uint32_t rounds_max = subscription_dead_max / dead_moved_max;

Error no_handler() { return {Errc::invalid, "handler: is empty"}; }

}  // namespace

Subscriber::Subscriber(Store& store, const Clock& clock, Callbacks& callbacks, std::string token)
    : store_{&store}, clock_{&clock}, callbacks_{&callbacks}, token_{std::move(token)} {}

Result<void> Subscriber::subscribe(std::vector<std::string> topics, SubscribeOptions options) {
    auto step = checked(std::move(topics), std::move(options));
    if (!step) return step.error();
    return put(*std::move(step));
}

void Subscriber::subscribe(std::vector<std::string> topics, SubscribeOptions options,
                           std::function<void(Result<void>)> done) {
    auto step = checked(std::move(topics), std::move(options));
    if (!step) return done(step.error());
    put(*std::move(step), std::move(done));
}

Result<void> Subscriber::subscribe_here(std::vector<std::string> topics, BatchHandler handler,
                                        const LocalSubscribeOptions& options) {
    if (!handler) return no_handler();
    auto step = checked(std::move(topics), local(options));
    if (!step) return step.error();
    callbacks_->set(token_, std::move(handler));
    return put(*std::move(step));
}

void Subscriber::subscribe_here(std::vector<std::string> topics, BatchHandler handler,
                                const LocalSubscribeOptions& options,
                                std::function<void(Result<void>)> done) {
    if (!handler) return done(no_handler());
    auto step = checked(std::move(topics), local(options));
    if (!step) return done(step.error());
    callbacks_->set(token_, std::move(handler));
    put(*std::move(step), std::move(done));
}

Result<Unsubscription> Subscriber::unsubscribe(std::string topic) {
    return perform(*store_, Unsubscribe{token_, std::move(topic)}, clock_->now());
}

void Subscriber::unsubscribe(std::string topic, std::function<void(Result<Unsubscription>)> done) {
    submit(*store_, Unsubscribe{token_, std::move(topic)}, clock_->now(), std::move(done));
}

Result<Removal> Subscriber::remove() {
    callbacks_->remove(token_);
    return perform(*store_, RemoveSubscriber{token_}, clock_->now());
}

void Subscriber::remove(std::function<void(Result<Removal>)> done) {
    callbacks_->remove(token_);
    submit(*store_, RemoveSubscriber{token_}, clock_->now(), std::move(done));
}

Result<std::optional<SubscriberStatus>> Subscriber::status() const {
    return perform(*store_, FindSubscriber{token_}, clock_->now());
}

void Subscriber::status(std::function<void(Result<std::optional<SubscriberStatus>>)> done) const {
    submit(*store_, FindSubscriber{token_}, clock_->now(), std::move(done));
}

Result<std::vector<QueuedBatch>> Subscriber::batches(std::uint32_t limit,
                                                     std::optional<Uid> after) const {
    return perform(*store_, ListBatches{token_, limit, after}, clock_->now());
}

void Subscriber::batches(std::uint32_t limit, std::optional<Uid> after,
                         std::function<void(Result<std::vector<QueuedBatch>>)> done) const {
    submit(*store_, ListBatches{token_, limit, after}, clock_->now(), std::move(done));
}

Result<std::optional<QueuedBatch>> Subscriber::batch(const Uid& batch) const {
    return perform(*store_, FindBatch{token_, batch}, clock_->now());
}

void Subscriber::batch(const Uid& batch,
                       std::function<void(Result<std::optional<QueuedBatch>>)> done) const {
    submit(*store_, FindBatch{token_, batch}, clock_->now(), std::move(done));
}

Result<BatchAction> Subscriber::deliver_now(const Uid& batch) {
    return perform(*store_, DeliverBatch{token_, batch}, clock_->now());
}

void Subscriber::deliver_now(const Uid& batch, std::function<void(Result<BatchAction>)> done) {
    submit(*store_, DeliverBatch{token_, batch}, clock_->now(), std::move(done));
}

Result<BatchAction> Subscriber::drop(const Uid& batch) {
    return perform(*store_, DropBatch{token_, batch}, clock_->now());
}

void Subscriber::drop(const Uid& batch, std::function<void(Result<BatchAction>)> done) {
    submit(*store_, DropBatch{token_, batch}, clock_->now(), std::move(done));
}

Result<std::vector<DeadBatchStatus>> Subscriber::dead_batches(std::uint32_t limit,
                                                              std::optional<Uid> after) const {
    return perform(*store_, ListDeadBatches{token_, limit, after}, clock_->now());
}

void Subscriber::dead_batches(
    std::uint32_t limit, std::optional<Uid> after,
    std::function<void(Result<std::vector<DeadBatchStatus>>)> done) const {
    submit(*store_, ListDeadBatches{token_, limit, after}, clock_->now(), std::move(done));
}

Result<std::optional<DeadBatch>> Subscriber::dead_batch(const Uid& batch) const {
    return decoded(perform(*store_, FindDeadBatch{token_, batch}, clock_->now()));
}

void Subscriber::dead_batch(const Uid& batch,
                            std::function<void(Result<std::optional<DeadBatch>>)> done) const {
    submit(*store_, FindDeadBatch{token_, batch}, clock_->now(),
           [done = std::move(done)](Result<std::optional<DeadMessages>> found) {
               done(decoded(std::move(found)));
           });
}

Result<std::optional<DeadMessages>> Subscriber::dead_messages(const Uid& batch) const {
    return perform(*store_, FindDeadBatch{token_, batch}, clock_->now());
}

void Subscriber::dead_messages(
    const Uid& batch, std::function<void(Result<std::optional<DeadMessages>>)> done) const {
    submit(*store_, FindDeadBatch{token_, batch}, clock_->now(), std::move(done));
}

Result<Count> Subscriber::redeliver(const Uid& batch) {
    return perform(*store_, RedeliverDeadBatches{token_, batch}, clock_->now());
}

void Subscriber::redeliver(const Uid& batch, std::function<void(Result<Count>)> done) {
    submit(*store_, RedeliverDeadBatches{token_, batch}, clock_->now(), std::move(done));
}

Result<Count> Subscriber::redeliver_all() {
    Count total;
    for (std::uint32_t round = 0; round < rounds_max; ++round) {
        const auto count = perform(*store_, RedeliverDeadBatches{token_}, clock_->now());
        if (!count) return count.error();
        total.value += count->value;
        if (count->value < dead_moved_max) break;
    }
    return total;
}

void Subscriber::redeliver_all(std::function<void(Result<Count>)> done) {
    redeliver_more({}, 1, std::move(done));
}

Result<Dropped> Subscriber::drop_dead(const Uid& batch) {
    return perform(*store_, DropDeadBatches{token_, batch}, clock_->now());
}

void Subscriber::drop_dead(const Uid& batch, std::function<void(Result<Dropped>)> done) {
    submit(*store_, DropDeadBatches{token_, batch}, clock_->now(), std::move(done));
}

Result<Dropped> Subscriber::drop_all_dead() {
    Dropped total;
    for (std::uint32_t round = 0; round < rounds_max; ++round) {
        const auto dropped = perform(*store_, DropDeadBatches{token_}, clock_->now());
        if (!dropped) return dropped.error();
        total.batches += dropped->batches;
        total.events += dropped->events;
        if (dropped->batches < dead_moved_max) break;
    }
    return total;
}

void Subscriber::drop_all_dead(std::function<void(Result<Dropped>)> done) {
    drop_more({}, 1, std::move(done));
}

void Subscriber::redeliver_more(Count total, std::uint32_t round,
                                std::function<void(Result<Count>)> done) {
    submit(
        *store_, RedeliverDeadBatches{token_}, clock_->now(),
        [self = *this, total, round, done = std::move(done)](const Result<Count>& count) mutable {
            if (!count) return done(count);
            total.value += count->value;
            const bool all = count->value < dead_moved_max || round == rounds_max;
            all ? done(total) : self.redeliver_more(total, round + 1, std::move(done));
        });
}

void Subscriber::drop_more(Dropped total, std::uint32_t round,
                           std::function<void(Result<Dropped>)> done) {
    submit(*store_, DropDeadBatches{token_}, clock_->now(),
           [self = *this, total, round,
            done = std::move(done)](const Result<Dropped>& dropped) mutable {
               if (!dropped) return done(dropped);
               total.batches += dropped->batches;
               total.events += dropped->events;
               const bool all = dropped->batches < dead_moved_max || round == rounds_max;
               all ? done(total) : self.drop_more(total, round + 1, std::move(done));
           });
}

Result<std::optional<DeadBatch>> Subscriber::decoded(Result<std::optional<DeadMessages>> found) {
    if (!found) return found.error();
    if (!*found) return std::optional<DeadBatch>{};
    DeadBatch batch{.status = std::move((*found)->status), .events = {}};
    for (const auto message : (*found)->messages) {
        if (auto event = decode_message(message)) {
            batch.events.push_back(*std::move(event));
        } else {
            ++batch.undecodable;
        }
    }
    return std::optional{std::move(batch)};
}

Result<Subscribe> Subscriber::checked(std::vector<std::string> topics,
                                      SubscribeOptions options) const {
    if (!options.callback.starts_with(local_scheme)) {
        if (auto url = check_url(options.callback, "callback", UrlRule::http); !url) {
            return url.error();
        }
    }
    if (auto rest = check(token_, topics, options); !rest) return rest.error();
    return Subscribe{token_, std::move(topics), std::move(options)};
}

Result<void> Subscriber::put(Subscribe step) {
    return without_value(perform(*store_, std::move(step), clock_->now()));
}

void Subscriber::put(Subscribe step, std::function<void(Result<void>)> done) {
    submit(*store_, std::move(step), clock_->now(),
           [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

SubscribeOptions Subscriber::local(const LocalSubscribeOptions& options) const {
    return {.callback = std::string{local_scheme} + token_,
            .timeout = options.timeout,
            .max_events = options.max_events,
            .max_in_flight = options.max_in_flight,
            .attempts_max = options.attempts_max,
            .age_max = options.age_max,
            .dead_max = options.dead_max};
}

// --- Explanations --------------------------------------------------------------------------------

namespace {

using ExplainedBatch = std::optional<BatchExplanation>;
using Status = std::optional<SubscriberStatus>;

void set_subscriber(BatchExplanation& all, const Status& subscriber) {
    if (!subscriber) return;
    all.callback = subscriber->subscription.callback;
    all.max_in_flight = subscriber->subscription.max_in_flight;
}

void set_before(BatchExplanation& all, const std::vector<QueuedBatch>& first) {
    if (first.empty() || first.front().status.uid == all.batch.status.uid) return;
    all.before = first.front().status.uid;
}

FindQueueWorkers workers_for(const BatchExplanation& all) {
    return {delivery_queue, delivery_handler(all.callback)};
}

}  // namespace

Result<ExplainedBatch> Subscriber::explain(const Uid& batch) const {
    const auto now = clock_->now();
    auto found = perform(*store_, FindBatch{token_, batch}, now);
    if (!found) return found.error();
    if (!*found) return ExplainedBatch{};
    BatchExplanation all{.batch = **std::move(found), .now = now};
    const auto subscriber = perform(*store_, FindSubscriber{token_}, now);
    if (!subscriber) return subscriber.error();
    set_subscriber(all, *subscriber);
    const auto first = perform(*store_, ListBatches{token_, 1}, now);
    if (!first) return first.error();
    set_before(all, *first);
    const auto workers = perform(*store_, workers_for(all), now);
    if (!workers) return workers.error();
    all.workers = *workers;
    return ExplainedBatch{std::move(all)};
}

void Subscriber::explain(const Uid& batch, std::function<void(Result<ExplainedBatch>)> done) const {
    const auto now = clock_->now();
    auto& store = *store_;
    auto with_workers = [&store, now, done](BatchExplanation all) {
        submit(store, workers_for(all), now,
               [all, done](const Result<QueueWorkers>& workers) mutable {
                   if (!workers) return done(workers.error());
                   all.workers = *workers;
                   done(ExplainedBatch{std::move(all)});
               });
    };
    auto with_first = [&store, now, done, token = token_, with_workers](BatchExplanation all) {
        submit(store, ListBatches{token, 1}, now,
               [all, done, with_workers](const Result<std::vector<QueuedBatch>>& first) mutable {
                   if (!first) return done(first.error());
                   set_before(all, *first);
                   with_workers(std::move(all));
               });
    };
    submit(store, FindBatch{token_, batch}, now,
           [&store, now, done, token = token_,
            with_first](const Result<std::optional<QueuedBatch>>& found) {
               if (!found) return done(found.error());
               if (!*found) return done(ExplainedBatch{});
               BatchExplanation all{.batch = **found, .now = now};
               submit(store, FindSubscriber{token}, now,
                      [all, done, with_first](const Result<Status>& subscriber) mutable {
                          if (!subscriber) return done(subscriber.error());
                          set_subscriber(all, *subscriber);
                          with_first(std::move(all));
                      });
           });
}

}  // namespace routemaster
