/// @file
/// What a `Dispatcher` is made of. Each file beside this one has one thing that it does.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/system/owner_process.hpp"
#include "core/work/event_queue.hpp"
#include "core/work/fair_share.hpp"
#include "core/work/lease_loop.hpp"
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
class Dispatcher::Impl final : private detail::LeaseLoop::Owner {
public:
    const detail::OwnerProcess process{"dispatcher"};

    Impl(Store& store, DispatcherOptions options);

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    TimePoint poll(TimePoint now);

    void wake_with(const std::function<void()>& wake) {
        loop_.wake_with(wake);
        events_->wake_with(wake);
    }

    void close(TimePoint deadline) { loop_.close(deadline); }

    [[nodiscard]] bool closed() const { return loop_.retired(); }

    [[nodiscard]] std::size_t in_flight() const noexcept {
        return in_flight_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    using Id = detail::LeaseLoop::Id;

    /// A job under way.
    struct Flight {
        bool beginning = true;  ///< The store has not said how it begins.
        std::string subscriber{};
        Uid batch{};
        int health_points = health_points_max;
        std::uint32_t attempt = 0;
        std::size_t events = 0;
        Transport* transport = nullptr;  ///< Who carries it; null until then.
        TimePoint begun_at{};
        std::string error{};  ///< Why it failed, once that is known.
    };

    /// What a transport reports, from whichever thread.
    struct Delivered {
        Id id;
        DeliveryReport report;
    };
    using OwnEventQueue = detail::OwnEventQueue<Delivered>;

    static constexpr std::size_t unnamed_max = 10'000;  ///< Remembered subscribers.
    static constexpr Duration at_limit_pause{1'000};

    [[nodiscard]] static detail::LeaseLoopOptions loop_options(const DispatcherOptions& options,
                                                               const Uid& worker);

    /// All that the transports reach now. Each comes first in turn, or those behind it would
    /// starve while few deliveries are free.
    [[nodiscard]] std::optional<std::vector<std::string>> destinations() override;

    // --- Begin ----------------------------------------------------------------------------------

    void describe(Heartbeat& heartbeat) override;
    void acquired(Id id, const Lease& lease) override;
    void begin_again(Id id) override;

    /// How many deliveries of the subscriber of a flight may be under way.
    [[nodiscard]] std::uint32_t concurrency_max() const noexcept;

    /// Whatever begins may be for the unhealthy.
    [[nodiscard]] Duration unhealthy_pause() const noexcept;

    void begun(Id id, Outcome outcome) override;
    void unfit(Id id, const Error& error) override;
    static const char* reason_of(Verdict verdict);

    // --- Deliver --------------------------------------------------------------------------------

    void deliver(Id id, DeliveryStart start);

    /// Whether all attempts that a subscriber wants at a batch were begun before this one.
    [[nodiscard]] bool none_left(Id id, const Flight& flight, const Subscription& wants) const;
    [[nodiscard]] Transport* serving(std::string_view callback) const;
    void on(Delivered& delivered);
    void log_outcome(const Flight& flight, const DeliveryReport& report);

    /// Once for each subscriber, until its callback is called again: its batches are tried again
    /// and again, which is no news.
    void log_unnamed(const std::string& subscriber);

    // --- Settle ---------------------------------------------------------------------------------

    void settled(Id id, Settlement settlement) override;
    void log_death(const Flight& flight) const;

    // --- The end --------------------------------------------------------------------------------

    /// The flights that nobody waits for beyond the deadline. Asked before the reports are taken,
    /// so that the one of a callback that has just returned is among them.
    std::vector<Id> take_back();

    /// Nacks those of the flights that have not returned.
    void nack(const std::vector<Id>& ids);

    void end(Id id);

    static bool unhealthy(const Flight& flight) noexcept {
        return flight.health_points < health_points_max;
    }

    void count_flights() { in_flight_.store(flights_.size(), std::memory_order_relaxed); }

    double jitter() { return random_.unit() * 0.5; }

    void warn(const std::string& text) const { log(LogLevel::warning, text); }
    void log(LogLevel level, std::string_view text) const {
        if (options_.log) options_.log(level, text);
    }

    DispatcherOptions options_;
    detail::FairShare share_{options_.in_flight_max};
    Random random_;
    detail::LeaseLoop loop_;
    OwnEventQueue events_;
    std::size_t acquisitions_ = 0;                    // Whose turn it is.
    std::shared_ptr<const WorkerProfile> profile_{};  // As it was sent last.
    TimePoint now_{};
    bool attached_ = false;
    std::unordered_map<Id, Flight> flights_;
    std::set<std::string> unnamed_;  ///< Subscribers whose callback nobody named, and was logged.
    std::size_t beginning_ = 0;      // Flights of which the store has not said how they begin.
    std::size_t unhealthy_ = 0;      // Flights to those whose health is below its maximum.
    std::atomic<std::size_t> in_flight_{0};
};

}  // namespace routemaster
