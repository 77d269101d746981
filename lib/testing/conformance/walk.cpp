#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "routemaster/random.hpp"

namespace routemaster::testing {
namespace {

/// Random walk: publishers, workers and operators perform random steps, and delivered events are
/// recorded.
///
/// Not thread safe.
class Walk {
public:
    explicit Walk(Scenario& scenario) : s_{scenario}, random_{scenario.traits().seed} {
        for (const auto* token : tokens) subscribe(token);
    }

    void step() {
        const auto what = random_.below(100);
        if (what < 35) {
            publish();
        } else if (what < 60) {
            begin();
        } else if (what < 80) {
            end();
        } else if (what < 90) {
            s_.advance(Duration{random_.below(400)});
        } else if (what < 94) {
            lose_worker();
        } else if (what < 97) {
            subscribe(any(tokens));
        } else if (what < 98) {
            look_after_the_dead(any(tokens));
        } else {
            interfere();
        }
    }

    /// Expects that gauges and counters equal a count of the listed data.
    void check() {
        std::uint64_t batches_total = 0;
        for (const std::string token : tokens) {
            const auto batches = s_.batches(token);
            std::uint64_t events = 0;
            std::uint64_t current = 0;
            for (const auto& batch : batches) {
                events += batch.events;
                current += batch.current ? 1U : 0U;
                ensure(batch.events > 0, "no batch of " + token + " may be empty");
            }
            batches_total += batches.size();
            ensure(current <= 1, token + " may have one CURRENT batch, but has " +
                                     Text::of(current) + " CURRENT batches");
            const auto dead = s_.dead(token);
            if (const auto status = s_.perform(FindSubscriber{token})) {
                equal(status->events_queued, events, "events queued for " + token);
                equal(status->batches_queued, batches.size(), "batches queued for " + token);
                equal(status->batches_dead, dead.size(), "DEAD batches of " + token);
            }
            std::int64_t dead_events = 0;
            for (const auto& batch : dead) dead_events += static_cast<std::int64_t>(batch.events);
            equal(count(token, "events.dead") - count(token, "events.redelivered") -
                      count(token, "events.dead_dropped"),
                  dead_events, "events of DEAD batches by the counters of " + token);
            equal(static_cast<std::uint64_t>(count(token, "events.added") -
                                             count(token, "events.removed")),
                  events, "queued events by the counters of " + token);
        }
        const auto jobs = s_.queue(delivery_queue);
        equal(jobs.scheduled + jobs.ready + jobs.pending, batches_total, "delivery jobs");
    }

    /// Delivers all remaining batches, including DEAD batches. Afterwards no job may remain and no
    /// event may be missing.
    void finish() {
        for (unsigned worker = 1; worker <= workers; ++worker) {
            s_.perform(RetireWorker{Scenario::worker(worker)});
        }
        under_way_.clear();
        for (const std::string token : tokens) s_.perform(RedeliverDeadBatches{token});
        for (int round = 0; round < 10'000 && deliver_what_is_due(); ++round) {
            s_.advance(backoff_max);
        }
        for (const std::string token : tokens) {
            equal(s_.batches(token), std::vector<BatchStatus>{}, "batches left for " + token);
            equal(s_.dead(token), std::vector<DeadBatchStatus>{}, "DEAD batches of " + token);
            // A redelivery counts its events as added again.
            const auto added = count(token, "events.added") - count(token, "events.redelivered");
            const auto gone = static_cast<std::uint64_t>(count(token, "events.dead_dropped"));
            equal(delivered_[token] + vanished_[token] + gone, static_cast<std::uint64_t>(added),
                  "events that were delivered to " + token + ", vanished or dropped");
        }
        equal(s_.queue(delivery_queue), QueueStatus{}, "delivery jobs left");
        check();
    }

private:
    static constexpr unsigned workers = 4;
    static constexpr const char* tokens[] = {"audit", "billing", "crm"};
    static constexpr const char* topics[] = {"cats", "dogs", "orders"};

    struct UnderWay {
        Lease lease;
        std::string token;
        MessageList messages;
        TimePoint begun_at;
    };

    const char* any(const auto& list) { return list[random_.below(std::size(list))]; }
    Uid any_worker() { return Scenario::worker(static_cast<unsigned>(1 + random_.below(workers))); }

    void ensure(bool condition, const std::string& what, Where at = Where::here()) const {
        if (!condition) fail(what + " (seed " + Text::of(s_.traits().seed) + ")", at);
    }
    template <class T, class U>
    void equal(const T& got, const U& expected, const std::string& what,
               Where at = Where::here()) const {
        expect_equal(got, expected, what + " (seed " + Text::of(s_.traits().seed) + ")", at);
    }

    std::int64_t count(const std::string& token, const char* name) const {
        return s_.counter_of(token, name).value_or(0);
    }

    void publish() { s_.publish_message(any(topics), std::to_string(++published_)); }

    /// One subscriber allows several batches under delivery and limits attempts. For the others,
    /// the order of events is checked.
    void subscribe(const std::string& token) {
        std::vector<std::string> wanted;
        for (const auto* topic : topics) {
            if (random_.below(4) != 0) wanted.emplace_back(topic);
        }
        s_.subscribe(
            token, wanted,
            {.timeout = Duration{random_.below(300)},
             .max_events = static_cast<std::uint32_t>(1 + random_.below(8)),
             .max_in_flight =
                 token == "crm" ? static_cast<std::uint32_t>(1 + random_.below(3)) : 1U,
             .attempts_max = token == "crm" ? static_cast<std::uint32_t>(random_.below(4)) : 0U,
             .dead_max = static_cast<std::uint32_t>(1 + random_.below(8))});
    }

    void look_after_the_dead(const std::string& token) {
        auto dead = s_.dead(token);
        std::optional<Uid> one;
        if (!dead.empty() && random_.below(2) == 0) one = dead[random_.below(dead.size())].uid;
        if (random_.below(3) == 0) {
            s_.perform(DropDeadBatches{token, one});
        } else {
            s_.perform(RedeliverDeadBatches{token, one});
        }
    }

    void begin() {
        const auto leases =
            s_.perform(AcquireJobs{.queue = delivery_queue, .worker = any_worker(), .limit = 2})
                .leases;
        for (const auto& lease : leases) begin(lease);
    }

    void begin(const Lease& lease) {
        const auto before = count_queued();
        auto start = s_.begin(lease, random_.unit() / 2);
        if (start.verdict == Verdict::vanished) note_vanished(before);
        if (start.verdict != Verdict::deliver) return;
        under_way_.push_back(
            {lease, start.subscription.token, std::move(start.messages), s_.now()});
    }

    /// Settles a delivery, whose lease may be lost meanwhile.
    void end() {
        if (under_way_.empty()) return;
        const auto place =
            under_way_.begin() + static_cast<std::ptrdiff_t>(random_.below(under_way_.size()));
        auto one = std::move(*place);
        under_way_.erase(place);
        const auto luck = random_.below(10);
        if (luck == 0) {
            s_.perform(NackJob{one.lease, s_.now() + Duration{random_.below(200)}});
        } else {
            settle(one, luck > 3);
        }
    }

    void settle(const UnderWay& one, bool delivered) {
        const auto settlement =
            s_.perform(SettleDelivery{.lease = one.lease,
                                      .delivered = delivered,
                                      .health_change = delivered ? 5 : -20,
                                      .begun_at = one.begun_at,
                                      .retry_at = s_.now() + Duration{random_.below(200)},
                                      .permanent = random_.below(10) == 0});
        if (settlement == Settlement::settled && delivered) note_delivered(one);
    }

    void note_delivered(const UnderWay& one) {
        auto& newest = newest_[one.token];
        for (const auto message : one.messages) {
            const auto number = std::stoull(std::string{message});
            if (one.token != "crm") {
                ensure(number > newest, one.token + " must get events in order, but got " +
                                            Text::of(number) + " after " + Text::of(newest));
            }
            newest = number;
            ++delivered_[one.token];
        }
    }

    std::map<std::string, std::uint64_t> count_queued() {
        std::map<std::string, std::uint64_t> events;
        for (const auto* token : tokens) {
            for (const auto& batch : s_.batches(token)) events[token] += batch.events;
        }
        return events;
    }

    void note_vanished(const std::map<std::string, std::uint64_t>& before) {
        auto after = count_queued();
        for (const auto& [token, events] : before) vanished_[token] += events - after[token];
    }

    void lose_worker() {
        if (random_.below(2) == 0) {
            s_.perform(RetireWorker{any_worker()});
        } else {
            s_.perform(ScrubWorkers{Duration{200 + random_.below(1'000)}});
        }
    }

    void interfere() {
        switch (random_.below(3)) {
            case 0: s_.perform(RemoveSubscriber{any(tokens)}); break;
            case 1: s_.perform(Unsubscribe{any(tokens), any(topics)}); break;
            default: s_.perform(RemoveTopic{any(topics), std::nullopt}); break;
        }
    }

    /// Delivers all due batches. Returns false when no batch is due at a later time.
    bool deliver_what_is_due() {
        for (;;) {
            const auto acquired = s_.acquire();
            for (const auto& lease : acquired.leases) begin(lease);
            for (const auto& one : std::exchange(under_way_, {})) settle(one, true);
            if (acquired.leases.empty()) return acquired.next_due != never;
        }
    }

    Scenario& s_;
    Random random_;
    std::uint64_t published_ = 0;
    std::vector<UnderWay> under_way_;
    std::map<std::string, std::uint64_t> newest_;     // Last delivered message by subscriber.
    std::map<std::string, std::uint64_t> delivered_;  // Numbers of delivered events, by subscriber.
    std::map<std::string, std::uint64_t> vanished_;   // Numbers of vanished events, by subscriber.
};

}  // namespace

void add_walk_cases(StoreCases& add) {
    add("gauges, counters and deliveries agree after a long random walk", [](Scenario& s) {
        Walk walk{s};
        for (std::uint32_t i = 1; i <= s.traits().walk_steps; ++i) {
            walk.step();
            if (i % 100 == 0) walk.check();
        }
        walk.finish();
    });
}

}  // namespace routemaster::testing
