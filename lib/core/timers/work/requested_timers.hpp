/// @file
/// `RequestedTimers`: a namespace of `TimerRequests`, with its waiting requests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/jobs/work/acquire_schedule.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_requests.hpp"

namespace routemaster::detail {

/// The error for requests while this process shuts down.
[[nodiscard]] Error timers_stopping();

struct TimerWaiter {
    TimerRequest request;
    std::function<void(Result<std::vector<FiredTimer>>)> done;
    TimePoint until{};  ///< When the request is completed, even without timers.

    /// Whether a `TakeTimers` covers the request (`asked`), and whether its reply has arrived
    /// (`answered`). A request without timers is not completed before that.
    enum class Look : std::uint8_t { none, asked, answered };
    Look look = Look::none;

    [[nodiscard]] bool gone() const noexcept { return request.gone && request.gone->load(); }
};

/// Listener of a timer namespace on behalf of remote clients. It takes timers for the first waiting
/// request. Not thread safe.
class RequestedTimers {
public:
    /// The store and the options must outlive the object.
    RequestedTimers(Store& store, std::string space, const TimerRequestsOptions& options,
                    TimePoint now);

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    void wait(TimerWaiter waiter);

    /// Completes all requests with an error, except a request whose `TakeTimers` is in progress.
    void refuse_waiting(const Error& error);

    /// Stops taking timers and leaves the listeners of the namespace. The object must be polled
    /// until `over`, which takes at most a second after the deadline.
    void close(TimePoint deadline);
    [[nodiscard]] bool over() const noexcept { return over_; }

    TimePoint poll(TimePoint now);

    [[nodiscard]] bool idle() const noexcept;
    [[nodiscard]] std::size_t waiting() const noexcept { return waiters_.size(); }
    [[nodiscard]] std::size_t passing() const noexcept;

private:
    using Waiters = std::list<TimerWaiter>;

    struct Taken {
        Result<TakenTimers> taken;
    };
    struct Left {};
    using Event = std::variant<Taken, Left>;

    /// After this long without a waiting request, the listener leaves the queue of listeners
    /// (`TimerTurns`), so that another listener takes the timers.
    static constexpr Duration unwanted_grace{20};
    /// How long to wait for the store's reply after the deadline.
    static constexpr Duration leave_timeout{1'000};

    void on(Taken& taken);
    void on(Left&) { over_ = true; }
    void serve(std::vector<FiredTimer> timers);
    void answer_overdue();
    void ask();
    void leave();
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
    Waiters waiters_;  // Waiting requests, in the order of arrival.
    std::optional<Error> trouble_;
    bool asking_ = false;
    bool asking_for_first_ = false;
    bool joined_ = false;
    bool unwanted_ = false;  // No request waits, so the listener has left the queue of listeners.
    std::optional<TimePoint> close_at_;
    bool leaving_ = false;
    bool over_ = false;
};

}  // namespace routemaster::detail
