/// @file
/// What a `Dispatcher` is made of. Each file beside this one has one thing that it does.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/work/event_queue.hpp"
#include "core/work/fair_share.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/health.hpp"
#include "routemaster/log.hpp"
#include "routemaster/random.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// A dispatcher, which the public class forwards to.
class Dispatcher::Impl {
public:
    Impl(Store& store, DispatcherOptions options);

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    TimePoint poll(TimePoint now);

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    void close(TimePoint deadline);

    [[nodiscard]] bool closed() const { return retired_; }

    [[nodiscard]] std::size_t in_flight() const noexcept {
        return in_flight_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::optional<std::string> trouble() const;

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
    using Event = std::variant<GotJobs, Begun, Delivered, Settled, Retired, MoreToScrub>;
    using EventQueue = detail::EventQueue<Event>;

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
    static constexpr Duration at_limit_pause{1'000};
    static constexpr Duration settle_timeout{5'000};
    static constexpr Duration trouble_after{5'000};

    // --- Acquire --------------------------------------------------------------------------------

    void acquire();
    void post_acquire();
    void on(GotJobs& got);

    // --- Begin ----------------------------------------------------------------------------------

    void begin(Id id);

    /// How many deliveries of the subscriber of a flight may be under way.
    [[nodiscard]] std::uint32_t concurrency_max() const noexcept;

    /// Whatever begins may be for the unhealthy.
    [[nodiscard]] Duration unhealthy_pause() const noexcept;

    void on(Begun& begun);
    static const char* reason_of(Verdict verdict);

    // --- Deliver --------------------------------------------------------------------------------

    void deliver(Id id, DeliveryStart start);

    /// Whether all attempts that a subscriber wants at a batch were begun before this one.
    [[nodiscard]] static bool none_left(const Flight& flight, const Subscription& wants);
    [[nodiscard]] Transport* serving(std::string_view callback) const;
    void on(Delivered& delivered);
    void log_outcome(const Flight& flight, const DeliveryReport& report);

    /// Once for each subscriber, until its callback is called again: its batches are tried again
    /// and again, which is no news.
    void log_unnamed(const std::string& subscriber);

    // --- Settle ---------------------------------------------------------------------------------

    void settle(Id id);
    void on(Settled& settled);
    void log_death(const Flight& flight) const;

    // --- What goes wrong ------------------------------------------------------------------------

    /// The store could not do a step of this flight. Both steps may be repeated: beginning again
    /// counts one attempt more, and settling again answers that the lease is gone.
    void refused(Id id, const Error& error);

    void retry_due();
    static Duration refusal_backoff(std::uint32_t refusals);

    /// The clock was set back: what waits for an instant must not wait for it twice.
    void start_over(TimePoint now);

    // --- Staying alive, and the end -------------------------------------------------------------

    void stay_alive();
    void on(MoreToScrub&);

    [[nodiscard]] bool closing() const noexcept { return close_at_.has_value(); }

    /// Whether the deadline of the orderly end is past.
    [[nodiscard]] bool over() const noexcept { return closing() && now_ >= *close_at_; }

    /// The flights that nobody waits for beyond the deadline. Asked before the events is taken, so
    /// that the report of one that has just returned is in it.
    std::vector<Id> take_back();

    /// Gives back those of the flights that have not returned. When that is all there is, the
    /// retirement does so in one step.
    void nack(const std::vector<Id>& ids);

    void retire_when_over();

    /// Whether the orderly end waits for anything under way.
    [[nodiscard]] bool awaiting() const;

    void retire();
    void on(Retired& retired);

    // --- HttpPost --------------------------------------------------------------------------------

    /// Settlements go first, so that an acquisition finds what they freed; in a group of their
    /// own, so that it does not wait for their being durable.
    void post();

    template <class Back>
    void post(Outgoing& outgoing);

    /// Sends a step whose reply matters only if there is more to scrub.
    void store_step(Step step) { aside_.push_back(std::move(step)); }

    void end(Id id);

    static bool unhealthy(const Flight& flight) noexcept {
        return flight.health_points < health_points_max;
    }

    void count_flights() { in_flight_.store(flights_.size(), std::memory_order_relaxed); }

    [[nodiscard]] TimePoint next_poll() const;

    // --- Trouble --------------------------------------------------------------------------------

    void look_for_trouble();

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
    std::shared_ptr<EventQueue> events_ = std::make_shared<EventQueue>();
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
