/// @file
/// The loop of a listener: takes timers, hands them to the threads, and confirms them.
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

#include "core/work/acquire_schedule.hpp"
#include "core/work/event_queue.hpp"
#include "core/work/pool/prefetch.hpp"
#include "core/work/timers/timer_board.hpp"
#include "routemaster/active.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_handler.hpp"
#include "routemaster/timer_listener_options.hpp"

namespace routemaster::detail {

class TimerResponse;

/// One of the two forms of a handler.
struct AnyTimerHandler {
    TimerHandler handle{};
    AsyncTimerHandler begin{};
    /// Set if a timer becomes DEAD at once when the store refuses for good what follows from it:
    /// the reason, made of what that is and of the store's error.
    std::function<Error(const FollowUps&, const Error&)> refusal{};
};

/// A listener without a `Runner`.
///
/// Thread safety: as `Active` says; `status` and `trouble` from any thread.
class TimerLoop final : public Active {
public:
    /// The store must outlive it. The options have been checked, and have a name.
    TimerLoop(Store& store, std::string space, AnyTimerHandler handler,
              TimerListenerOptions options);
    TimerLoop(const TimerLoop&) = delete;
    TimerLoop& operator=(const TimerLoop&) = delete;
    ~TimerLoop() override;

    /// Makes the threads. Throws `Failure` when it cannot, and is of no use then. Repeating it does
    /// nothing; `poll` does it, too.
    void begin();

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override { return closed_; }

    /// Whether it was polled.
    [[nodiscard]] bool begun() const noexcept { return begun_; }

    /// Ends the threads; waits for the handlers that run.
    void join();

    [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
    [[nodiscard]] TimerListenerStatus status() const;
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    /// A firing that was handled, and that the store does not know of yet.
    struct Confirmation {
        EndedTimer timer;
        std::uint32_t refusals = 0;
        bool in_doubt = false;  ///< A reply was lost: it may be confirmed already.
    };

    // What comes back, from whichever thread.
    struct Replied {
        std::vector<Confirmation> confirmations;
        std::vector<Outcome>
            outcomes;  ///< Theirs, and then that of the question, if there was one.
    };
    struct Left {
        Result<Done> done;
    };
    using Event = std::variant<Replied, Left>;

    /// What `status` reports; written by the loop alone.
    struct Counts {
        std::atomic<std::uint64_t> taken{0};
        std::atomic<std::uint64_t> handled{0};
        std::atomic<std::uint64_t> failed{0};
        std::atomic<std::uint64_t> late{0};
    };

    /// For how long all slots are taken before the store is told.
    static constexpr Duration busy_grace{2};
    /// How long confirmations are awaited beyond the deadline of the end, and their making.
    static constexpr Duration settle_timeout{5'000};

    void on(Replied& replied);
    void on(Left& left);
    void confirmed(Confirmation& confirmation, Outcome& outcome);
    void took(Outcome& outcome);
    /// The store said why it could not be confirmed.
    void not_confirmed(Confirmation& confirmation, const Error& error);
    void give_up(EndedTimer timer, std::string reason);
    void too_late(const EndedTimer& timer);

    /// Runs the handler. What has not ended when it returns ends later.
    [[nodiscard]] std::optional<EndedTimer> handle(FiredTimer fired);
    /// Keeps in mind that a responder may outlive the listener.
    void remember(const std::shared_ptr<TimerResponse>& response);
    /// The step that confirms a firing, with what follows from it, or gives the timer up.
    [[nodiscard]] Step confirmation(const EndedTimer& timer) const;
    void run_inside();
    void end(EndedTimer timer);

    void retry_due();
    void clock_set_back();
    void drop_waiting();
    void send();
    /// The question, if it is time for one.
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
    const Clock& clock_;  // For handlers: the loop is told the time.
    const std::size_t slots_;
    const std::shared_ptr<TimerBoard> board_;
    OwnEventQueue<Event> events_;
    Watch watch_;
    AcquireSchedule schedule_;
    Prefetch prefetch_;
    TimePoint now_{};
    bool begun_ = false;
    std::size_t waiting_ = 0;  // As the board last reported; so below.
    std::size_t running_ = 0;
    bool looks_ = false;
    bool asking_ = false;     // A question is unanswered.
    bool joined_ = false;     // One was sent.
    bool told_busy_ = false;  // The last question was for nothing, as all slots were taken.
    std::optional<TimePoint> full_since_;
    std::vector<FiredTimer> fresh_;  // Taken, and not yet on the board.
    std::vector<Confirmation> confirmations_;
    std::multimap<TimePoint, Confirmation> retries_;
    std::size_t unconfirmed_ = 0;  // Sent, and not answered.
    std::optional<TimePoint> close_at_;
    TimePoint settle_by_ = TimePoint::min();  // How long confirmations are awaited at the end.
    bool leaving_ = false;
    bool left_ = false;
    bool closed_ = false;
    Counts counts_;
    std::mutex responses_mutex_;  // Guards `responses_`.
    std::vector<std::weak_ptr<TimerResponse>> responses_;
    mutable std::mutex trouble_mutex_;  // Guards `trouble_`.
    std::optional<std::string> trouble_;
    std::vector<std::jthread> threads_;  // The first to end.
};

}  // namespace routemaster::detail
