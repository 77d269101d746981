/// @file
/// The implementation of `Dispatcher`. Each source file beside this header has a task of its own.

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
        bool beginning = true;  ///< The store has not replied to `BeginDelivery`.
        std::string subscriber{};
        Uid batch{};
        int health_points = health_points_max;
        std::uint32_t attempt = 0;
        std::size_t events = 0;
        /// The transport that delivers the batch; null before the delivery begins.
        Transport* transport = nullptr;
        TimePoint begun_at{};
        std::string error{};
    };

    /// A report of a transport, from any thread.
    struct Delivered {
        Id id;
        DeliveryReport report;
    };
    using OwnEventQueue = detail::OwnEventQueue<Delivered>;

    /// Limit of remembered subscribers with unnamed callbacks.
    static constexpr std::size_t unnamed_max = 10'000;
    static constexpr Duration at_limit_pause{1'000};

    [[nodiscard]] static detail::LeaseLoopOptions loop_options(const DispatcherOptions& options,
                                                               const Uid& worker);

    /// All destinations of the transports. Begins with the next destination each time: with few
    /// free deliveries, the last destinations would otherwise starve.
    [[nodiscard]] std::optional<std::vector<std::string>> destinations() override;

    // --- Begin ----------------------------------------------------------------------------------

    void describe(Heartbeat& heartbeat) override;
    void acquired(Id id, const Lease& lease) override;
    void begin_again(Id id) override;

    [[nodiscard]] std::uint32_t concurrency_max() const noexcept;

    /// The pause for unhealthy subscribers, if too many deliveries go to them. Counts deliveries
    /// still beginning, because their subscribers may be unhealthy.
    [[nodiscard]] Duration unhealthy_pause() const noexcept;

    void begun(Id id, Outcome outcome) override;
    void unfit(Id id, const Error& error) override;
    static const char* reason_of(Verdict verdict);

    // --- Deliver --------------------------------------------------------------------------------

    void deliver(Id id, DeliveryStart start);

    /// Whether all attempts allowed by the subscription began before this attempt.
    [[nodiscard]] bool none_left(Id id, const Flight& flight, const Subscription& wants) const;
    [[nodiscard]] Transport* serving(std::string_view callback) const;
    void on(Delivered& delivered);
    void log_outcome(const Flight& flight, const DeliveryReport& report);

    /// Logs once per subscriber, until its callback is called again: repeated attempts are no news.
    void log_unnamed(const std::string& subscriber);

    // --- Settle ---------------------------------------------------------------------------------

    void settled(Id id, Settlement settlement) override;
    void log_death(const Flight& flight) const;

    // --- The end --------------------------------------------------------------------------------

    /// Withdraws flights from their transports after the deadline, and returns their ids. Called
    /// before reports are taken: a callback that has just returned still counts.
    std::vector<Id> take_back();

    /// Releases these flights, except for returned flights.
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
    std::size_t acquisitions_ = 0;  // Chooses the first destination of the next acquisition.
    std::shared_ptr<const WorkerProfile> profile_{};  // The profile sent last.
    TimePoint now_{};
    bool attached_ = false;
    std::unordered_map<Id, Flight> flights_;
    /// Subscribers with an unnamed callback, already logged.
    std::set<std::string> unnamed_;
    std::size_t beginning_ = 0;  // Number of flights with `beginning`.
    std::size_t unhealthy_ = 0;  // Number of flights to unhealthy subscribers.
    std::atomic<std::size_t> in_flight_{0};
};

}  // namespace routemaster
