/// @file
/// `Dispatcher`: takes delivery jobs, hands their batches to a transport, and settles them.
///
///     acquire ──► begin ──► deliver ──► settle (delivered: gone │ failed: again after a wait, or
///                   │                                            DEAD)
///                   └─ throttled │ vanished: given back │ ended

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/active.hpp"
#include "routemaster/callbacks.hpp"
#include "routemaster/detail/fair_share.hpp"
#include "routemaster/detail/inbox.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/health.hpp"
#include "routemaster/log.hpp"
#include "routemaster/public_part.hpp"
#include "routemaster/random.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Settings of a `Dispatcher`.
struct DispatcherOptions {
    /// Who carries batches; the first that serves a callback does. They must outlive it.
    std::vector<Transport*> transports{};
    /// Deliveries under way at once. One subscriber gets no more than its fair share of them.
    std::uint32_t in_flight_max = 1'024;
    HealthOptions health{};
    Duration heartbeat_interval{1'000};  ///< How often it says that it is alive.
    /// Other workers silent for so long are taken for dead. With the time until the next look at
    /// them and the delivery itself, what they held goes out again within 5 s.
    Duration worker_silence{3'500};
    Duration poll_interval{1'000};  ///< A look at the queue even when nobody woke it.
    Duration wake_grace{20};  ///< After several wake-ups in vain, how long no other is followed.
    std::uint64_t seed = entropy();  ///< Of the jitter and of its name as a worker.
    Log log{};
};

/// Delivers what is due. Any number of them, in any processes, may share a store.
///
/// By default each subscriber has one delivery under way, so its batches arrive in order; see
/// `Subscription::max_in_flight`. A slow or dead subscriber holds up nobody else. After a failure
/// the batch comes again after `retry_wait`, without limit of attempts, until it is delivered, its
/// subscriber is gone, or it becomes DEAD as its subscriber asked for (`Subscription::attempts_max`
/// and `age_max`), which is logged. A batch may arrive twice: after a crash, or when a lease was
/// lost.
///
/// An eighth of the deliveries that may be under way is a reserve. A subscriber with several under
/// way, 16 at first and more as they succeed, may have up to eight times as many as are free beyond
/// the reserve: alone it gets three quarters of all, and the more there are, the less each of them.
/// Into the reserve everybody comes with one delivery, unless those whose health is below its
/// maximum have all the rest already.
///
/// Thread safety: as `Active` says; `in_flight` and `trouble` from any thread.
class Dispatcher final : public Active {
public:
    /// The store must outlive it.
    Dispatcher(Store& store, DispatcherOptions options)
        : store_{store},
          options_{std::move(options)},
          random_{options_.seed},
          worker_{random_.next(), random_.next()} {
        watch_ = store_.watch(delivery_queue, [inbox = inbox_] { inbox->wake(); });
    }

    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    TimePoint poll(TimePoint now) override {
        if (now < now_) start_over(now);
        now_ = now;
        const auto taken_back = over() ? take_back() : std::vector<Id>{};
        auto mail = inbox_->take();
        if (mail.woken) woken_ = true;
        for (auto& letter : mail.letters) {
            std::visit([this](auto& any) { on(any); }, letter);
        }
        retry_due();
        if (closing()) {
            give_back(taken_back);
            retire_when_over();
        } else {
            acquire();
        }
        stay_alive();
        post();
        look_for_trouble();
        return inbox_->empty() ? next_poll() : now;
    }

    void wake_with(std::function<void()> wake) override { inbox_->wake_with(std::move(wake)); }

    /// Lets deliveries under way end; at `deadline` the rest goes back to the queue, but for
    /// callbacks in this process that run: those are awaited, however long they take. What was
    /// delivered is settled even after the deadline, unless the store fails to do so for 5 s.
    void close(TimePoint deadline) override {
        close_at_ = deadline;
        settle_by_ = saturating_add(deadline, settle_patience);
    }

    [[nodiscard]] bool closed() const override { return retired_; }

    /// Deliveries under way: from the acquisition of a job to its settlement.
    [[nodiscard]] std::size_t in_flight() const noexcept {
        return in_flight_.load(std::memory_order_relaxed);
    }

    /// Why it cannot deliver anything now: the trouble of a transport, or the store has given no
    /// job and refused none for 5 s. Nothing when all is well.
    [[nodiscard]] std::optional<std::string> trouble() const {
        for (const auto* transport : options_.transports) {
            if (auto why = transport->trouble()) return why;
        }
        const std::lock_guard lock{trouble_mutex_};
        return trouble_;
    }

private:
    /// A job under way.
    struct Flight {
        Lease lease;
        std::string subscriber{};
        Uid batch{};
        int health_points = health_points_max;
        std::uint32_t attempt = 0;
        std::size_t events = 0;
        Transport* transport = nullptr;  ///< Who carries it; null until then.
        TimePoint begun_at{};
        std::optional<SettleDelivery> settlement{};  ///< How it went, once that is known.
        std::uint32_t refusals = 0;                  ///< Times the store could not do the step.
    };

    using Id = std::uint64_t;

    // What comes back, from whichever thread.
    struct GotJobs {
        Result<Acquired> acquired;
    };
    struct Begun {
        std::vector<Id> ids;
        std::vector<Outcome> outcomes;
    };
    struct Delivered {
        Id id;
        DeliveryReport report;
    };
    struct Settled {
        std::vector<Id> ids;
        std::vector<Outcome> outcomes;
    };
    struct Retired {
        Result<Count> jobs;
    };
    struct MoreToScrub {};
    using Letter = std::variant<GotJobs, Begun, Delivered, Settled, Retired, MoreToScrub>;
    using Inbox = detail::Inbox<Letter>;

    /// Steps that leave together at the end of a poll, and whose they are.
    struct Outgoing {
        std::vector<Id> ids;
        std::vector<Step> steps;
    };

    static constexpr std::uint32_t acquired_max = 256;
    static constexpr std::size_t unnamed_max = 10'000;  ///< Remembered subscribers.
    static constexpr std::uint32_t woken_in_vain_max = 4;
    static constexpr Duration refusal_wait{100};
    static constexpr Duration refusal_wait_max{1'000};
    static constexpr Duration crowded_pause{1'000};
    static constexpr Duration settle_patience{5'000};
    static constexpr Duration trouble_after{5'000};

    // --- Acquire --------------------------------------------------------------------------------

    void acquire() {
        const auto free =
            options_.in_flight_max - std::min<std::size_t>(options_.in_flight_max, flights_.size());
        const bool woken = woken_ && now_ >= rested_at_;
        if (acquiring_ || free == 0 || (now_ < next_acquire_ && !woken)) return;
        only_woken_ = now_ < next_acquire_;
        wanted_ = true;
    }

    void post_acquire() {
        const auto free = options_.in_flight_max - flights_.size();
        acquiring_ = true;
        woken_ = false;
        if (!asked_at_) asked_at_ = now_;
        const auto limit = static_cast<std::uint32_t>(std::min<std::size_t>(free, acquired_max));
        submit(store_, AcquireJobs{delivery_queue, worker_, limit, newest_fence_}, now_,
               [inbox = inbox_](Result<Acquired> reply) { inbox->put(GotJobs{std::move(reply)}); });
    }

    void on(GotJobs& got) {
        acquiring_ = false;
        if (!got.acquired) {
            next_acquire_ = now_ + refusal_backoff(acquire_refusals_++);
            acquire_refusal_ = message(got.acquired);
            if (acquire_refusals_ == 1) warn("cannot acquire jobs: " + acquire_refusal_);
            return;
        }
        acquire_refusals_ = 0;
        asked_at_.reset();
        // Woken in vain: another worker was faster, or what woke us we had seen ourselves. Where
        // many workers share a queue, each job wakes all of them, and those who are hardly ever the
        // first need not come each time.
        if (!only_woken_ || !got.acquired->leases.empty() || got.acquired->next_due < next_due_) {
            woken_in_vain_ = 0;
        } else if (++woken_in_vain_ >= woken_in_vain_max) {
            rested_at_ = now_ + options_.wake_grace;
        }
        next_due_ = got.acquired->next_due;
        next_acquire_ = std::min(next_due_, now_ + options_.poll_interval);
        for (auto& lease : got.acquired->leases) {
            if (over()) {
                store_step(NackJob{std::move(lease), now_});
                continue;
            }
            const auto id = ++last_id_;
            newest_fence_ = std::max(newest_fence_, lease.fence);
            flights_.emplace(id, Flight{.lease = std::move(lease)});
            begin(id);
        }
        count_flights();
    }

    // --- Begin ----------------------------------------------------------------------------------

    void begin(Id id) {
        ++beginning_;
        begins_.ids.push_back(id);
        begins_.steps.emplace_back(BeginDelivery{.lease = flights_.at(id).lease,
                                                 .backoff_max = options_.health.backoff_max,
                                                 .jitter = jitter(),
                                                 .lane_max = lane_max(),
                                                 .pause = unhealthy_pause()});
    }

    /// How many deliveries of the subscriber of a flight may be under way.
    [[nodiscard]] std::uint32_t lane_max() const noexcept {
        return share_.lane_max(flights_.size() - 1);
    }

    /// Whatever begins may be for the unhealthy.
    [[nodiscard]] Duration unhealthy_pause() const noexcept {
        return share_.too_many(unhealthy_ + beginning_) ? crowded_pause : Duration{0};
    }

    void on(Begun& begun) {
        beginning_ -= begun.ids.size();
        for (std::size_t i = 0; i < begun.ids.size(); ++i) {
            const auto flight = flights_.find(begun.ids[i]);
            if (flight == flights_.end()) continue;
            auto start = reply_of<BeginDelivery>(begun.outcomes[i]);
            if (!start) {
                refused(flight->first, start.error());
            } else if (start->verdict == Verdict::deliver) {
                if (!over()) deliver(flight->first, *std::move(start));
            } else {
                log(LogLevel::debug, told(start->verdict));
                end(flight->first);
            }
        }
    }

    static const char* told(Verdict verdict) {
        switch (verdict) {
            case Verdict::throttled: return "spared a subscriber that failed before";
            case Verdict::crowded: return "put off a delivery: its subscriber has its share";
            default: return "ended a delivery whose batch or lease is gone";
        }
    }

    // --- Deliver --------------------------------------------------------------------------------

    void deliver(Id id, DeliveryStart start) {
        auto& flight = flights_.at(id);
        flight.subscriber = start.subscription.token;
        flight.batch = start.batch;
        flight.health_points = start.health_points;
        if (unhealthy(flight)) ++unhealthy_;
        flight.attempt = start.attempt;
        flight.events = start.messages.size();
        flight.begun_at = now_;
        auto report = [inbox = inbox_, id](DeliveryReport how) {
            inbox->put(Delivered{id, std::move(how)});
        };
        auto* transport = serving(start.subscription.callback);
        if (transport == nullptr) {
            const std::string_view callback = start.subscription.callback;
            report({.outcome = Error{Errc::unavailable, "no transport for " + public_url(callback)},
                    .unnamed = callback.starts_with(local_scheme)});
            return;
        }
        flight.transport = transport;
        transport->deliver({.batch = start.batch,
                            .subscriber = flight.subscriber,
                            .callback = std::move(start.subscription.callback),
                            .uuid = std::move(start.subscription.uuid),
                            .attempt = start.attempt,
                            .created_at = start.created_at,
                            .messages = std::move(start.messages)},
                           std::move(report));
    }

    [[nodiscard]] Transport* serving(std::string_view callback) const {
        for (auto* transport : options_.transports) {
            if (transport->serves(callback)) return transport;
        }
        return nullptr;
    }

    void on(Delivered& delivered) {
        const auto found = flights_.find(delivered.id);
        if (found == flights_.end()) return;
        auto& flight = found->second;
        const auto& outcome = delivered.report.outcome;
        if (over() && !outcome && outcome.error().code() == Errc::cancelled) return;
        SettleDelivery step{
            .lease = flight.lease,
            .delivered = outcome.has_value(),
            .health_change = outcome ? options_.health.heal_rate : options_.health.damage_rate,
            .begun_at = flight.begun_at,
            .lane_max = lane_max()};
        if (!outcome) {
            const auto points = changed_health(flight.health_points, step.health_change);
            step.retry_at =
                now_ + retry_wait(points, flight.attempt, options_.health.backoff_max, jitter());
            step.permanent = delivered.report.permanent;
            step.error = outcome.error().message();
        }
        flight.settlement = std::move(step);
        tell(flight, delivered.report);
        settle(delivered.id);
        settle_by_ = std::max(settle_by_, saturating_add(now_, settle_patience));
    }

    void tell(const Flight& flight, const DeliveryReport& report) {
        if (report.undecodable > 0) {
            log(LogLevel::error, std::to_string(report.undecodable) +
                                     " undecodable messages left out for '" +
                                     public_part(flight.subscriber) + "'");
            store_step(AddToCounters{{{{"events.undecodable", {{"queue", flight.subscriber}}},
                                       static_cast<std::int64_t>(report.undecodable)}}});
        }
        if (!options_.log) return;
        if (report.unnamed) return tell_unnamed(flight.subscriber);
        unnamed_.erase(flight.subscriber);
        const auto what =
            std::to_string(flight.events) + " events to '" + public_part(flight.subscriber) + "'";
        if (report.outcome) {
            log(LogLevel::debug, "delivered " + what);
        } else {
            warn("failed to deliver " + what + ", attempt " + std::to_string(flight.attempt) +
                 ": " + report.outcome.error().message());
        }
    }

    /// Once for each subscriber, until its callback is called again: its batches are tried again
    /// and again, which is no news.
    void tell_unnamed(const std::string& subscriber) {
        if (unnamed_.size() >= unnamed_max) unnamed_.clear();
        if (!unnamed_.insert(subscriber).second) return;
        warn("nobody has named the callback of '" + public_part(subscriber) +
             "' in this process, and its events wait and take room: subscribe again with the "
             "callback, or remove the subscriber");
    }

    // --- Settle ---------------------------------------------------------------------------------

    void settle(Id id) {
        settles_.ids.push_back(id);
        settles_.steps.emplace_back(*flights_.at(id).settlement);
        // A successor in its lane may be acquired as soon as the step is performed.
        next_acquire_ = now_;
    }

    void on(Settled& settled) {
        for (std::size_t i = 0; i < settled.ids.size(); ++i) {
            const auto flight = flights_.find(settled.ids[i]);
            if (flight == flights_.end()) continue;
            auto settlement = reply_of<SettleDelivery>(settled.outcomes[i]);
            if (!settlement) {
                refused(flight->first, settlement.error());
                continue;
            }
            // After a reply in doubt, the lease may be lost because the settlement was done.
            if (*settlement == Settlement::lease_lost && flight->second.refusals == 0) {
                warn("lost the lease of a delivery to '" + public_part(flight->second.subscriber) +
                     "': it will arrive again");
            }
            if (*settlement == Settlement::dead) tell_death(flight->second);
            end(flight->first);
        }
    }

    void tell_death(const Flight& flight) const {
        warn("batch " + std::string{flight.batch.text()} + " for '" +
             public_part(flight.subscriber) + "' is DEAD after attempt " +
             std::to_string(flight.attempt) + ", with " + std::to_string(flight.events) +
             " events: " + flight.settlement->error);
    }

    // --- What goes wrong ------------------------------------------------------------------------

    /// The store could not do a step of this flight. Both steps may be repeated: beginning again
    /// counts one attempt more, and settling again answers that the lease is gone.
    void refused(Id id, const Error& error) {
        auto& flight = flights_.at(id);
        if (error.code() == Errc::invalid) {
            log(LogLevel::error, "a job of the delivery queue is none: " + error.message());
            store_step(NackJob{flight.lease, now_ + options_.health.backoff_max});
            end(id);
            return;
        }
        if (flight.refusals == 0) warn("the store failed: " + error.message());
        retries_.emplace(now_ + refusal_backoff(flight.refusals++), id);
    }

    void retry_due() {
        while (!retries_.empty() && retries_.begin()->first <= now_) {
            const auto id = retries_.begin()->second;
            retries_.erase(retries_.begin());
            const auto flight = flights_.find(id);
            if (flight == flights_.end()) continue;
            if (flight->second.settlement) {
                settle(id);
            } else {
                begin(id);
            }
        }
    }

    static Duration refusal_backoff(std::uint32_t refusals) {
        return std::min(refusal_wait_max, refusal_wait * (1 << std::min(refusals, 4U)));
    }

    /// The clock was set back: what waits for an instant must not wait for it twice.
    void start_over(TimePoint now) {
        next_acquire_ = std::min(next_acquire_, now);
        rested_at_ = std::min(rested_at_, now);
        if (asked_at_) asked_at_ = std::min(*asked_at_, now);
        const auto waiting = std::exchange(retries_, {});
        for (const auto& [at, id] : waiting) retries_.emplace(std::min(at, now), id);
    }

    // --- Staying alive, and the end -------------------------------------------------------------

    void stay_alive() {
        if (retiring_ || (now_ < next_heartbeat_ && now_ >= last_heartbeat_)) return;
        last_heartbeat_ = now_;
        next_heartbeat_ = now_ + options_.heartbeat_interval;
        store_step(Heartbeat{worker_});
        store_step(ScrubWorkers{options_.worker_silence});
    }

    void on(MoreToScrub&) {
        if (!retiring_) store_step(ScrubWorkers{options_.worker_silence});
    }

    [[nodiscard]] bool closing() const noexcept { return close_at_.has_value(); }

    /// Whether the deadline of the orderly end is past.
    [[nodiscard]] bool over() const noexcept { return closing() && now_ >= *close_at_; }

    /// The flights that nobody waits for beyond the deadline. Asked before the mail is taken, so
    /// that the report of one that has just returned is in it.
    std::vector<Id> take_back() {
        std::vector<Id> ids;
        for (const auto& [id, flight] : flights_) {
            if (flight.settlement) continue;
            if (flight.transport == nullptr || flight.transport->withdraw(flight.batch)) {
                ids.push_back(id);
            }
        }
        return ids;
    }

    /// Gives back those of the flights that have not returned. When that is all there is, the
    /// retirement does so in one step.
    void give_back(const std::vector<Id>& ids) {
        std::vector<Lease> leases;
        for (const auto id : ids) {
            const auto flight = flights_.find(id);
            if (flight == flights_.end() || flight->second.settlement) continue;
            leases.push_back(std::move(flight->second.lease));
            end(id);
        }
        if (flights_.empty()) return;
        for (auto& lease : leases) store_step(NackJob{std::move(lease), now_});
    }

    void retire_when_over() {
        if (retired_ || retiring_ || awaiting()) return;
        if (!flights_.empty()) {
            warn("gave up settling what was delivered, " + std::to_string(flights_.size()) +
                 " in all: it will arrive again");
        }
        retiring_ = true;
        flights_.clear();
        retries_.clear();
        count_flights();
        retire();
    }

    /// Whether the orderly end waits for anything under way.
    [[nodiscard]] bool awaiting() const {
        if (flights_.empty()) return false;
        if (!over() || now_ < settle_by_) return true;
        return std::any_of(flights_.begin(), flights_.end(),
                           [](const auto& any) { return !any.second.settlement; });
    }

    void retire() {
        submit(store_, RetireWorker{worker_}, now_,
               [inbox = inbox_](const Result<Count>& jobs) { inbox->put(Retired{jobs}); });
    }

    void on(Retired& retired) {
        if (retired.jobs && retired.jobs->value == given_back_max) return retire();
        // When the store cannot do it, others will find the worker silent.
        if (!retired.jobs) warn("could not give back what was under way");
        retired_ = true;
    }

    // --- Posting --------------------------------------------------------------------------------

    /// Settlements go first, so that an acquisition finds what they freed; in a group of their
    /// own, so that it does not wait for their being durable.
    void post() {
        post<Settled>(settles_);
        post<Begun>(begins_);
        if (!aside_.empty()) {
            store_.submit(aside_, now_, [inbox = inbox_](std::span<Outcome> outcomes) {
                for (const auto& outcome : outcomes) {
                    const auto* jobs = outcome ? std::get_if<Count>(&*outcome) : nullptr;
                    if (jobs != nullptr && jobs->value == given_back_max) inbox->put(MoreToScrub{});
                }
            });
            aside_.clear();
        }
        if (std::exchange(wanted_, false)) post_acquire();
    }

    template <class Back>
    void post(Outgoing& outgoing) {
        if (outgoing.steps.empty()) return;
        auto steps = std::exchange(outgoing.steps, {});
        store_.submit(steps, now_,
                      [inbox = inbox_,
                       ids = std::exchange(outgoing.ids, {})](std::span<Outcome> outcomes) mutable {
                          inbox->put(Back{std::move(ids),
                                          {std::make_move_iterator(outcomes.begin()),
                                           std::make_move_iterator(outcomes.end())}});
                      });
    }

    /// Sends a step whose reply matters only if there is more to scrub.
    void store_step(Step step) { aside_.push_back(std::move(step)); }

    void end(Id id) {
        const auto flight = flights_.find(id);
        if (unhealthy(flight->second)) --unhealthy_;
        flights_.erase(flight);
        count_flights();
    }

    static bool unhealthy(const Flight& flight) noexcept {
        return flight.health_points < health_points_max;
    }

    void count_flights() { in_flight_.store(flights_.size(), std::memory_order_relaxed); }

    [[nodiscard]] TimePoint next_poll() const {
        if (retiring_) return never;
        auto next = next_heartbeat_;
        if (closing()) {
            next = std::min(next, !over() ? *close_at_ : now_ < settle_by_ ? settle_by_ : never);
        }
        if (asked_at_ && now_ < *asked_at_ + trouble_after) {
            next = std::min(next, *asked_at_ + trouble_after);
        }
        if (!retries_.empty()) next = std::min(next, retries_.begin()->first);
        const bool full = flights_.size() >= options_.in_flight_max;
        if (!closing() && !acquiring_ && !full) {
            next = std::min({next, next_acquire_, woken_ ? rested_at_ : never});
        }
        return next;
    }

    // --- Trouble --------------------------------------------------------------------------------

    void look_for_trouble() {
        std::optional<std::string> trouble;
        if (asked_at_ && now_ >= *asked_at_ + trouble_after) {
            trouble = "cannot acquire jobs: " + (acquire_refusals_ == 0
                                                     ? std::string{"the store does not answer"}
                                                     : acquire_refusal_);
        }
        const std::lock_guard lock{trouble_mutex_};
        trouble_ = std::move(trouble);
    }

    double jitter() { return random_.unit() * 0.5; }

    template <class T>
    static std::string message(const Result<T>& result) {
        return result.error().message();
    }

    void warn(const std::string& text) const { log(LogLevel::warning, text); }
    void log(LogLevel level, std::string_view text) const {
        if (options_.log) options_.log(level, text);
    }

    Store& store_;
    DispatcherOptions options_;
    detail::FairShare share_{options_.in_flight_max};
    Random random_;
    Uid worker_;
    std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
    Watch watch_;
    TimePoint now_{};
    std::unordered_map<Id, Flight> flights_;
    std::multimap<TimePoint, Id> retries_;
    Outgoing begins_;
    Outgoing settles_;
    std::vector<Step> aside_;
    std::set<std::string> unnamed_;  ///< Subscribers whose callback nobody named, told so.
    Id last_id_ = 0;
    std::uint64_t newest_fence_ = 0;
    std::size_t beginning_ = 0;  // Flights of which the store has not said how they begin.
    std::size_t unhealthy_ = 0;  // Flights to those whose health is below its maximum.
    bool acquiring_ = false;
    bool wanted_ = false;
    bool woken_ = false;  // Since the last acquisition began, which may not know of it.
    std::uint32_t acquire_refusals_ = 0;
    std::string acquire_refusal_;        // The last of them.
    std::optional<TimePoint> asked_at_;  // Since when it asks for jobs without an answer.
    TimePoint next_acquire_{};
    TimePoint next_due_{};             // As the last acquisition told.
    bool only_woken_ = false;          // The last acquisition was not due by itself.
    std::uint32_t woken_in_vain_ = 0;  // One time after the other.
    TimePoint rested_at_{};            // When a wake-up is followed again.
    TimePoint last_heartbeat_ = never;
    TimePoint next_heartbeat_{};
    std::optional<TimePoint> close_at_;
    TimePoint settle_by_{};  // How long settlements are awaited beyond the deadline.
    bool retiring_ = false;
    bool retired_ = false;
    std::atomic<std::size_t> in_flight_{0};
    mutable std::mutex trouble_mutex_;  // Guards `trouble_`.
    std::optional<std::string> trouble_;
};

}  // namespace routemaster
