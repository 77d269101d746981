/// @file
/// One namespace of `TimerRequests`, with its waiting requests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/work/acquire_schedule.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_requests.hpp"

namespace routemaster::detail {

/// The error of requests while this process ends.
[[nodiscard]] Error timers_stopping();

struct TimerWaiter {
    TimerRequest request;
    std::function<void(Result<std::vector<FiredTimer>>)> done;
    TimePoint until{};  ///< When the request is completed, even without timers.

    /// How far the store was asked on behalf of the request. A request is not completed without
    /// timers before the store was asked.
    enum class Look : std::uint8_t { none, asked, answered };
    Look look = Look::none;

    [[nodiscard]] bool gone() const noexcept { return request.gone && request.gone->load(); }
};

/// A listener for the first waiting request. Thread safety: none.
class RequestedTimers {
public:
    /// The store and the options must outlive the object.
    RequestedTimers(Store& store, std::string space, const TimerRequestsOptions& options,
                    TimePoint now);

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    /// Adds a request; a later poll completes it.
    void wait(TimerWaiter waiter);

    /// Completes all requests with an error, except for the request of a `TakeTimers` under way.
    void refuse_waiting(const Error& error);

    /// Stops taking timers and leaves the listeners. Poll until `over`, at most a second after the
    /// deadline.
    void close(TimePoint deadline);
    [[nodiscard]] bool over() const noexcept { return over_; }

    /// Does the due work and returns when to poll next.
    TimePoint poll(TimePoint now);

    /// Whether the namespace has been unused for `idle_max`.
    [[nodiscard]] bool idle() const noexcept;
    [[nodiscard]] std::size_t waiting() const noexcept { return waiters_.size(); }
    /// Waiting requests with a wait of 0.
    [[nodiscard]] std::size_t passing() const noexcept;

private:
    using Waiters = std::list<TimerWaiter>;

    struct Taken {
        Result<TakenTimers> taken;
    };
    struct Left {};
    using Event = std::variant<Taken, Left>;

    /// How long no request must be waiting before the listener leaves its line (`TimerTurns`).
    static constexpr Duration unwanted_grace{20};
    /// How long to wait for the store after the deadline.
    static constexpr Duration leave_timeout{1'000};

    void on(Taken& taken);
    void on(Left&) { over_ = true; }
    void serve(std::vector<FiredTimer> timers);
    void answer_overdue();
    void ask();
    void leave();
    /// Whether a `TakeTimers` is under way for this request.
    [[nodiscard]] bool served(Waiters::const_iterator waiter) const {
        return asking_for_first_ && waiter == waiters_.begin();
    }
    [[nodiscard]] TimePoint next_poll() const;

    Store& store_;
    const TimerRequestsOptions& options_;
    const std::string space_;
    const std::string listener_;
    OwnEventQueue<Event> events_;
    Watch watch_;
    AcquireSchedule schedule_;
    TimePoint now_;
    TimePoint used_at_;
    Waiters waiters_;  // In the order of arrival.
    std::optional<Error> trouble_;
    bool asking_ = false;
    bool asking_for_first_ = false;
    bool joined_ = false;
    bool unwanted_ = false;  // The listener left its line, as no request waits.
    std::optional<TimePoint> close_at_;
    bool leaving_ = false;
    bool over_ = false;
};

}  // namespace routemaster::detail
