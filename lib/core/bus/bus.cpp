#include "routemaster/bus.hpp"

#include <utility>

#include "routemaster/entropy.hpp"
#include "routemaster/store/perform.hpp"

namespace routemaster {

struct Bus::Many {
    std::vector<Step> steps;
    std::vector<std::size_t> places;
    std::vector<Result<void>> replies;
};

Bus::Bus(Store& store, BusOptions options)
    : store_{store},
      options_{std::move(options)},
      clock_{options_.clock != nullptr ? *options_.clock : system_clock()},
      callbacks_{options_.log},
      uids_{entropy(), entropy()} {}

Result<void> Bus::publish(const Event& event) {
    const auto now = clock_.now();
    auto step = encoded(event, now);
    if (!step) return step.error();
    return without_value(perform(store_, *std::move(step), now));
}

void Bus::publish(const Event& event, std::function<void(Result<void>)> done) {
    const auto now = clock_.now();
    auto step = encoded(event, now);
    if (!step) return done(step.error());
    static_assert(!PublishEvent::traits.repeatable, "so that one completion is enough");
    Step any{*std::move(step)};
    store_.submit({&any, 1}, now, [done = std::move(done)](std::span<Outcome> outcomes) {
        done(without_value(reply_of<PublishEvent>(outcomes.front())));
    });
}

std::vector<Result<void>> Bus::publish_many(std::span<const Event> events) {
    const auto now = clock_.now();
    auto many = encoded(events, now);
    for (std::size_t i = 0; auto& outcome : perform_all(store_, many.steps, now)) {
        many.replies[many.places[i++]] = without_value(reply_of<PublishEvent>(outcome));
    }
    return std::move(many.replies);
}

void Bus::publish_many(std::span<const Event> events,
                       std::function<void(std::vector<Result<void>>)> done) {
    const auto now = clock_.now();
    auto many = encoded(events, now);
    auto steps = std::move(many.steps);
    store_.submit(
        steps, now,
        [many = std::move(many), done = std::move(done)](std::span<Outcome> outcomes) mutable {
            for (std::size_t i = 0; auto& outcome : outcomes) {
                many.replies[many.places[i++]] = without_value(reply_of<PublishEvent>(outcome));
            }
            done(std::move(many.replies));
        });
}

Subscriber Bus::subscriber(std::string token) {
    return {store_, clock_, callbacks_, std::move(token)};
}

Result<Removal> Bus::remove_topic(std::string name) {
    return perform(store_, RemoveTopic{std::move(name), options_.publisher}, clock_.now());
}

void Bus::remove_topic(std::string name, std::function<void(Result<Removal>)> done) {
    submit(store_, RemoveTopic{std::move(name), options_.publisher}, clock_.now(), std::move(done));
}

Result<std::vector<Topic>> Bus::topics(Page page) const {
    return perform(store_, ListTopics{std::move(page)}, clock_.now());
}

void Bus::topics(Page page, std::function<void(Result<std::vector<Topic>>)> done) const {
    submit(store_, ListTopics{std::move(page)}, clock_.now(), std::move(done));
}

Result<std::vector<SubscriberStatus>> Bus::subscribers(Page page) const {
    return perform(store_, ListSubscribers{std::move(page)}, clock_.now());
}

void Bus::subscribers(Page page,
                      std::function<void(Result<std::vector<SubscriberStatus>>)> done) const {
    submit(store_, ListSubscribers{std::move(page)}, clock_.now(), std::move(done));
}

Result<std::vector<Counter>> Bus::counters(Page page) const {
    return perform(store_, ListCounters{std::move(page)}, clock_.now());
}

void Bus::counters(Page page, std::function<void(Result<std::vector<Counter>>)> done) const {
    submit(store_, ListCounters{std::move(page)}, clock_.now(), std::move(done));
}

Result<PublishEvent> Bus::encoded(const Event& event, TimePoint now) {
    callbacks_.published(now);
    return publication(event, options_.rules, options_.publisher, options_.event_data_max,
                       uids_.next(), now);
}

Bus::Many Bus::encoded(std::span<const Event> events, TimePoint now) {
    Many many;
    many.replies.reserve(events.size());
    for (const auto& event : events) {
        auto step = encoded(event, now);
        if (step) {
            many.places.push_back(many.replies.size());
            many.steps.emplace_back(*std::move(step));
            many.replies.emplace_back();
        } else {
            many.replies.emplace_back(step.error());
        }
    }
    return many;
}

Result<QueueStatus> Bus::deliveries(Duration ahead) const {
    return perform(store_, CountJobs{delivery_queue}, saturating_add(clock_.now(), ahead));
}

void Bus::deliveries(Duration ahead, std::function<void(Result<QueueStatus>)> done) const {
    submit(store_, CountJobs{delivery_queue}, saturating_add(clock_.now(), ahead), std::move(done));
}

// An `AddToCounters` without increments is committed like any change. It shows whether the store
// can write, and leaves no data.

Result<void> Bus::probe() const {
    return without_value(perform(store_, AddToCounters{}, clock_.now()));
}

void Bus::probe(std::function<void(Result<void>)> done) const {
    submit(store_, AddToCounters{}, clock_.now(),
           [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

}  // namespace routemaster
