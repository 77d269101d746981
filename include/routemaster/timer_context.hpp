/// @file
/// `Timer` and `TimerContext`: what a handler knows of the timer that fired, and what may follow
/// from it.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "routemaster/clock.hpp"
#include "routemaster/event.hpp"
#include "routemaster/job.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/push_options.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/timer_options.hpp"
#include "routemaster/typed_job.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

class FollowUps;

/// A firing of a timer, as its handler gets it.
struct Timer {
    std::string space;  ///< Its namespace.
    std::string id;
    Value payload{};
    TimePoint due_at{};         ///< When this firing was due.
    std::uint32_t retries = 0;  ///< How often it was fired before.
    std::uint32_t retries_max = 0;
    /// When it fires again, or dies, unless it is confirmed; `never`: it needs no confirmation.
    TimePoint confirm_by = never;
    std::int64_t firing = 0;  ///< As `FiredTimer::firing`.

    /// Whether it dies unless this firing is confirmed.
    [[nodiscard]] bool last() const noexcept { return retries >= retries_max; }

    friend bool operator==(const Timer&, const Timer&) = default;
};

/// A firing whose handler runs. The listener makes it, and so may the test of a handler.
///
/// Thread safety: all members may be called from any thread.
class TimerContext : public Timer {
public:
    /// The last two are read for follow-ups, and must outlive their end; null: the defaults.
    explicit TimerContext(Timer timer, const Clock& clock = system_clock(),
                          const PublicationOptions* publications = nullptr);
    TimerContext(const TimerContext&) = delete;
    TimerContext& operator=(const TimerContext&) = delete;
    ~TimerContext();

    // --- Follow-ups -----------------------------------------------------------------------------
    //
    // Jobs, events and timers that come into the store in the moment in which it forgets this timer
    // as confirmed, in one step with that, at every crash either all or none. They never happen
    // when the handler fails, or takes too long; the next firing begins without any.
    //
    // What is wrong with them by themselves is `invalid` here; and all is of a timer without
    // retries, as that is forgotten before its handler runs. What turns out only at the end (the
    // topic belongs to another publisher) means that the timer has failed.

    /// Pushes a job into a queue, as `JobContext::push` does.
    Result<void> push(const std::string& queue, const Job& job, const PushOptions& options = {});

    /// The same with a struct of the program.
    template <TypedJob T>
    Result<void> push(const std::string& queue, const T& job, const PushOptions& options = {}) {
        return push(queue, to_job(job), options);
    }

    /// Publishes an event, as `TimerListenerOptions::publications` says.
    Result<void> publish(const Event& event);

    /// Posts a timer, as `Delayer::post` would now, and returns its id. With the id of this timer
    /// it is the next of a series.
    Result<std::string> post(const std::string& space, const Value& payload, Duration delay,
                             TimerOptions options = {});

    /// Does what an action says, by the rules of `TimerListenerOptions::publications`.
    Result<void> act(const TimerAction& action);

    /// Returns the follow-ups, if there are any, and lets nobody add more. The listener calls it at
    /// the end, and so may the test of a handler.
    std::optional<FollowUps> take_follow_ups();

private:
    /// Adds a follow-up by `add(FollowUps&)`.
    template <class Reply, class Add>
    Reply follow(Add add);

    const Clock& clock_;
    const PublicationOptions* publications_;
    std::mutex mutex_;  // Guards the rest.
    bool ended_ = false;
    std::unique_ptr<FollowUps> follow_ups_;  // Null: there are none yet.
};

}  // namespace routemaster
