/// @file
/// `Dispatcher::Impl`. Each source file in this folder implements one of its tasks.

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

#include "core/jobs/work/lease_loop.hpp"
#include "core/system/owner_process.hpp"
#include "core/work/event_queue.hpp"
#include "core/work/fair_share.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/health.hpp"
#include "routemaster/log.hpp"
#include "routemaster/random.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"
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

    struct Flight {
        bool beginning = true;  ///< The store has not replied to `BeginDelivery` yet.
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

    /// The report of a transport. It may arrive on any thread.
    struct Delivered {
        Id id;
        DeliveryReport report;
    };
    using OwnEventQueue = detail::OwnEventQueue<Delivered>;

    /// How many subscribers with unregistered callbacks are remembered.
    static constexpr std::size_t unnamed_max = 10'000;
    static constexpr Duration at_limit_pause{1'000};

    [[nodiscard]] static detail::LeaseLoopOptions loop_options(const DispatcherOptions& options,
                                                               const Uid& worker);

    /// All destinations of the transports. Each call begins with another destination, because with
    /// few free slots the last destinations would otherwise starve.
    [[nodiscard]] std::optional<std::vector<std::string>> destinations() override;

    // --- Begin ----------------------------------------------------------------------------------

    void describe(Heartbeat& heartbeat) override;
    void acquired(Id id, const Lease& lease) override;
    void begin_again(Id id) override;

    [[nodiscard]] std::uint32_t concurrency_max() const noexcept;

    /// How long further deliveries to unhealthy subscribers must pause, because too many are in
    /// progress. Deliveries that are still beginning count, because their subscribers may be
    /// unhealthy.
    [[nodiscard]] Duration unhealthy_pause() const noexcept;

    void begun(Id id, Outcome outcome) override;
    void unfit(Id id, const Error& error) override;
    static const char* reason_of(Verdict verdict);

    // --- Deliver --------------------------------------------------------------------------------

    void deliver(Id id, DeliveryStart start);

    /// Whether all attempts that the subscription allows began before this attempt.
    [[nodiscard]] bool none_left(Id id, const Flight& flight, const Subscription& wants) const;
    [[nodiscard]] Transport* serving(std::string_view callback) const;
    void on(Delivered& delivered);
    void log_outcome(const Flight& flight, const DeliveryReport& report);

    /// Logs that a subscriber's callback is not registered. Logs once per subscriber until the
    /// callback is called again.
    void log_unnamed(const std::string& subscriber);

    // --- Settle ---------------------------------------------------------------------------------

    void settled(Id id, Settlement settlement) override;
    void log_death(const Flight& flight) const;

    // --- Closing --------------------------------------------------------------------------------

    /// After the deadline, withdraws flights from their transports and returns their ids. Called
    /// before reports are processed, because the report of a callback that has just returned still
    /// counts.
    std::vector<Id> take_back();

    /// Releases the jobs of these flights, except flights that ended or are being settled.
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
    std::size_t acquisitions_ = 0;  // Selects the first destination of the next request.
    std::shared_ptr<const WorkerProfile> profile_{};
    TimePoint now_{};
    bool attached_ = false;
    std::unordered_map<Id, Flight> flights_;
    std::set<std::string> unnamed_;
    std::size_t beginning_ = 0;
    std::size_t unhealthy_ = 0;
    std::atomic<std::size_t> in_flight_{0};
};

}  // namespace routemaster
