/// @file
/// One namespace of `TimerRequests`: who waits for its timers.

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

/// The error of one who can get nothing now, because this process ends.
[[nodiscard]] Error timers_stopping();

/// A request that waits, or begins to.
struct TimerWaiter {
    TimerRequest request;
    std::function<void(Result<std::vector<FiredTimer>>)> done;
    TimePoint until{};  ///< When it is answered in any case.

    /// How far it has come. Nobody is sent away before the store was asked on its behalf.
    enum class Look : std::uint8_t { none, asked, answered };
    Look look = Look::none;

    [[nodiscard]] bool gone() const noexcept { return request.gone && request.gone->load(); }
};

/// A listener on behalf of the first of those who wait. Thread safety: none.
class RequestedTimers {
public:
    /// The store and the options must outlive it.
    RequestedTimers(Store& store, std::string space, const TimerRequestsOptions& options,
                    TimePoint now);

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    /// Takes a request; a later poll answers it.
    void wait(TimerWaiter waiter);

    /// Answers all who wait with an error, but one that the store is being asked for.
    void refuse_waiting(const Error& error);

    /// Asks for nothing any more, and leaves. Poll it until it is `over`, a second after the
    /// deadline at the latest.
    void close(TimePoint deadline);
    [[nodiscard]] bool over() const noexcept { return over_; }

    /// Does what is due, and returns when to call again.
    TimePoint poll(TimePoint now);

    /// Whether nobody has wanted anything of it for so long.
    [[nodiscard]] bool idle() const noexcept;
    [[nodiscard]] std::size_t waiting() const noexcept { return waiters_.size(); }
    /// Those of them whose wait is 0.
    [[nodiscard]] std::size_t passing() const noexcept;

private:
    using Waiters = std::list<TimerWaiter>;

    struct Taken {
        Result<TakenTimers> taken;
    };
    struct Left {};
    using Event = std::variant<Taken, Left>;

    /// For how long nobody waits before the store is told.
    static constexpr Duration unwanted_grace{20};
    /// How long the store is awaited beyond the deadline of the end.
    static constexpr Duration leave_timeout{1'000};

    void on(Taken& taken);
    void on(Left&) { over_ = true; }
    void serve(std::vector<FiredTimer> timers);
    void answer_overdue();
    void ask();
    void leave();
    /// Whether the store is being asked on behalf of the first one.
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
    Waiters waiters_;  // In the order in which they came.
    std::optional<Error> trouble_;
    bool asking_ = false;
    bool asking_for_first_ = false;
    bool joined_ = false;
    bool unwanted_ = false;  // The store was told that nobody waits.
    std::optional<TimePoint> close_at_;
    bool leaving_ = false;
    bool over_ = false;
};

}  // namespace routemaster::detail
