/// @file
/// `Timer` and `TimerContext`: the firing of a timer that a handler receives, and its follow-ups,
/// the jobs, events and timers that the handler adds.

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

/// A firing of a timer, as a handler receives it.
struct Timer {
    std::string space;  ///< The timer's namespace.
    std::string id;
    Value payload{};
    TimePoint due_at{};         ///< When this firing was due.
    std::uint32_t retries = 0;  ///< How often the timer fired before this firing.
    std::uint32_t retries_max = 0;
    /// When the timer fires again, or becomes DEAD, unless it is confirmed. `never`: the timer
    /// needs no confirmation.
    TimePoint confirm_by = never;
    std::int64_t firing = 0;  ///< As `FiredTimer::firing`.

    /// Whether this is the last firing: unless it is confirmed, the timer becomes DEAD.
    [[nodiscard]] bool last() const noexcept { return retries >= retries_max; }

    friend bool operator==(const Timer&, const Timer&) = default;
};

/// A firing and its follow-ups, while its handler runs. The listener constructs the context; a test
/// of a handler may construct one, too.
///
/// Thread safety: all members may be called from any thread.
class TimerContext : public Timer {
public:
    /// `clock` and `publications` are used for follow-ups, and must outlive `take_follow_ups`. If
    /// `publications` is null, the defaults apply.
    explicit TimerContext(Timer timer, const Clock& clock = system_clock(),
                          const PublicationOptions* publications = nullptr);
    TimerContext(const TimerContext&) = delete;
    TimerContext& operator=(const TimerContext&) = delete;
    ~TimerContext();

    // Follow-ups: jobs, events and timers that the store adds in the atomic step that
    // confirms the timer. A crash therefore loses either all of them or none. If the handler
    // fails or takes too long, the follow-ups are discarded. The next firing begins without
    // follow-ups.
    //
    // A malformed follow-up is `invalid` here. For a timer without retries, every follow-up is
    // `invalid`, because the timer is removed before its handler runs. An error that only the store
    // can detect (for example, the topic belongs to another publisher) makes the firing fail when
    // it is confirmed.

    /// Adds the push of a job to a queue, as `JobContext::push` does.
    Result<void> push(const std::string& queue, const Job& job, const PushOptions& options = {});

    /// Adds the push of a job that is a struct of the program.
    template <TypedJob T>
    Result<void> push(const std::string& queue, const T& job, const PushOptions& options = {}) {
        return push(queue, to_job(job), options);
    }

    /// Adds the publication of an event, with the settings of `TimerListenerOptions::publications`.
    Result<void> publish(const Event& event);

    /// Adds a timer, as `Delayer::post` does, and returns its id. The delay counts from this call.
    /// For a series of timers, post the next timer with the id of this timer.
    Result<std::string> post(const std::string& space, const Value& payload, Duration delay,
                             TimerOptions options = {});

    /// Adds an action, with the settings of `TimerListenerOptions::publications`.
    Result<void> act(const TimerAction& action);

    /// Returns the follow-ups, if there are any, and rejects later ones. The listener calls this
    /// function at the end; a test of a handler may call it, too.
    std::optional<FollowUps> take_follow_ups();

private:
    /// Adds a follow-up by `add(FollowUps&)`.
    template <class Reply, class Add>
    Reply follow(Add add);

    const Clock& clock_;
    const PublicationOptions* publications_;
    std::mutex mutex_;  // Guards the members below.
    bool ended_ = false;
    std::unique_ptr<FollowUps> follow_ups_;  // Null until the first follow-up.
};

}  // namespace routemaster
