/// @file
/// `TimerLoop`: takes the due timers of a namespace, passes timers to threads, and confirms timers.
///
///     TakeTimers ──► taken ──► board ──► handled ──► ConfirmTimer ──► confirmed
///         ▲                      │                        └─ refused: sent again, until too late
///         │                      └─ failed: nothing
///     due, woken, or after an interval

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/jobs/work/acquire_schedule.hpp"
#include "core/jobs/work/pool/prefetch.hpp"
#include "core/jobs/work/refusal.hpp"
#include "core/timers/work/timer_board.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/active.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_handler.hpp"
#include "routemaster/timer_listener_options.hpp"

namespace routemaster::detail {

class TimerResponse;

/// A handler: either `handle` or, for an asynchronous handler, `begin`.
struct AnyTimerHandler {
    TimerHandler handle{};
    AsyncTimerHandler begin{};
    /// If set, a timer becomes DEAD at once when the store rejects for good the jobs, events or
    /// timers that its handler added (its follow-ups). The function returns the reason. Its
    /// arguments are the follow-ups and the store's error.
    std::function<Error(const FollowUps&, const Error&)> refusal{};
};

/// Listener for timers that the caller polls.
///
/// Thread safety: as `Active` says; `status` and `trouble` may be called from any thread.
class TimerLoop final : public Active {
public:
    /// The store must outlive the loop. The options must have been validated, and have a name.
    TimerLoop(Store& store, std::string space, AnyTimerHandler handler,
              TimerListenerOptions options);
    TimerLoop(const TimerLoop&) = delete;
    TimerLoop& operator=(const TimerLoop&) = delete;
    ~TimerLoop() override;

    /// Starts the threads; later calls do nothing. Throws `Failure` when a thread cannot be
    /// started; the object is unusable then. Called by `poll`, too.
    void begin();

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override { return closed_; }

    [[nodiscard]] bool begun() const noexcept { return begun_; }

    /// Ends the threads, after waiting for running handlers.
    void join();

    [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
    [[nodiscard]] TimerListenerStatus status() const;
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    /// The end of a handled firing that the store has not confirmed yet.
    struct Confirmation {
        EndedTimer timer;
        std::uint32_t refusals = 0;
        bool in_doubt = false;  ///< A reply was lost, so the timer may already be confirmed.
    };

    // Events. They may be added from any thread.
    struct Replied {
        std::vector<Confirmation> confirmations;
        /// Outcomes of the confirmations, followed by the outcome of `TakeTimers`, if one was
        /// submitted.
        std::vector<Outcome> outcomes;
    };
    struct Left {
        Result<Done> done;
    };
    using Event = std::variant<Replied, Left>;

    /// The numbers in `status`. Only the loop writes them.
    struct Counts {
        std::atomic<std::uint64_t> taken{0};
        std::atomic<std::uint64_t> handled{0};
        std::atomic<std::uint64_t> failed{0};
        std::atomic<std::uint64_t> late{0};
    };

    /// After this long with all slots occupied, the listener leaves the queue of listeners
    /// (`TimerTurns`), so that another listener takes the timers.
    static constexpr Duration busy_grace{2};
    /// How long to wait for confirmations after the deadline, and after the last timer ended.
    static constexpr Duration settle_timeout{5'000};

    void on(Replied& replied);
    void on(Left& left);
    void confirmed(Confirmation& confirmation, Outcome& outcome);
    void took(Outcome& outcome);
    void not_confirmed(Confirmation& confirmation, const Error& error);
    void give_up(EndedTimer timer, std::string reason);
    void too_late(const EndedTimer& timer);

    /// Runs the handler. Returns nothing if an asynchronous handler will report later.
    [[nodiscard]] std::optional<EndedTimer> handle(FiredTimer fired);
    [[nodiscard]] std::optional<EndedTimer> handle_with_memory(FiredTimer fired);
    void begin(const std::shared_ptr<TimerResponse>& response);
    /// Stores a weak reference to a response, because its responder may outlive the listener.
    void remember(const std::shared_ptr<TimerResponse>& response);
    /// Builds the step for the end of a firing. The step confirms the firing and adds its
    /// follow-ups, or makes the timer DEAD.
    [[nodiscard]] Step confirmation(const EndedTimer& timer) const;
    void run_inside();
    void end(EndedTimer timer);

    void retry_due();
    void clock_set_back();
    void drop_waiting();
    void send();
    [[nodiscard]] std::optional<TakeTimers> question();
    void leave();
    [[nodiscard]] bool over() const noexcept { return close_at_ && now_ >= *close_at_; }
    [[nodiscard]] bool all_ended() const noexcept;
    [[nodiscard]] TimePoint next_poll() const;
    void log(LogLevel level, const std::string& text) const {
        if (options_.log) options_.log(level, text);
    }

    Store& store_;
    const std::string space_;
    const AnyTimerHandler handler_;
    const TimerListenerOptions options_;
    const Clock& clock_;  // Used by handlers. The loop itself gets the time from `poll`.
    const std::size_t slots_;
    const std::shared_ptr<TimerBoard> board_;
    OwnEventQueue<Event> events_;
    Watch watch_;
    AcquireSchedule schedule_;
    Prefetch prefetch_;
    TimePoint now_{};
    std::atomic<bool> begun_ = false;  // Read by other threads.
    std::size_t waiting_ = 0;          // Waiting timers in the last report, like `running_`.
    std::size_t running_ = 0;
    bool looks_ = false;
    bool asking_ = false;
    bool joined_ = false;
    bool told_busy_ = false;  // The last `TakeTimers` had the limit 0: no free slots.
    std::optional<TimePoint> full_since_;
    std::vector<FiredTimer> fresh_;  // Timers that are taken but not yet offered to the threads.
    std::vector<Confirmation> confirmations_;
    std::multimap<TimePoint, Confirmation> retries_;
    std::size_t unconfirmed_ = 0;  // Number of submitted confirmations without a reply.
    std::optional<TimePoint> close_at_;
    TimePoint settle_by_ = TimePoint::min();  // Timeout for confirmations when closing.
    bool leaving_ = false;
    bool left_ = false;
    bool closed_ = false;
    Counts counts_;
    std::mutex responses_mutex_;  // Guards `responses_`.
    std::vector<std::weak_ptr<TimerResponse>> responses_;
    mutable std::mutex trouble_mutex_;  // Guards `trouble_`.
    std::optional<std::string> trouble_;
    std::vector<std::jthread> threads_;  // Last: threads must end before other members.
};

}  // namespace routemaster::detail
