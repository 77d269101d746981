#include "core/timers/work/timer_loop.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <span>
#include <utility>

#include "core/codec/log_text.hpp"
#include "core/system/thread.hpp"
#include "core/timers/work/timer_response.hpp"
#include "core/work/handler_thread.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/error.hpp"
#include "routemaster/reject.hpp"
#include "routemaster/store/perform.hpp"

namespace routemaster::detail {
namespace {

constexpr std::size_t logged_id_max = 64;
constexpr std::size_t logged_error_max = 1'000;

std::string text_of_current() {
    try {
        throw;
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "the handler threw something other than an exception";
    }
}

const char* fate_of(const Timer& timer, bool for_good) {
    if (timer.confirm_by == never) return "it does not fire again";
    return for_good || timer.last() ? "it becomes DEAD" : "it fires again";
}

}  // namespace

void log_failure(const Log& log, const Timer& timer, std::string_view error, bool for_good) {
    if (!log) return;
    log(LogLevel::warning, "timer " + log_text(timer.id, logged_id_max) + " of " + timer.space +
                               " failed, and " + fate_of(timer, for_good) + ": " +
                               log_text(error, logged_error_max));
}

EndedTimer end_of(const Timer& timer, bool handled) {
    return {timer.id, timer.retries, timer.confirm_by, timer.firing, handled, nullptr};
}

EndedTimer given_up_timer(TimerContext& timer, std::string_view reason) {
    auto ended = ended_timer(timer, false);
    ended.given_up = true;
    ended.reason = reason;
    return ended;
}

EndedTimer ended_timer(TimerContext& timer, bool handled) {
    auto all = timer.take_follow_ups();
    EndedTimer ended = end_of(timer, handled);
    if (handled && all) ended.follow_ups = std::make_shared<const FollowUps>(*std::move(all));
    return ended;
}

TimerLoop::TimerLoop(Store& store, std::string space, AnyTimerHandler handler,
                     TimerListenerOptions options)
    : store_{store},
      space_{std::move(space)},
      handler_{std::move(handler)},
      options_{std::move(options)},
      clock_{options_.clock != nullptr ? *options_.clock : system_clock()},
      slots_{options_.concurrency > 0 ? options_.concurrency
                                      : std::max<std::size_t>(1, options_.threads)},
      board_{std::make_shared<TimerBoard>(slots_)},
      watch_{store.watch(timer_watch(space_, options_.name),
                         [events = events_.shared()] { events->wake(); })},
      schedule_{options_.poll_interval, Duration{0}, "take timers"},
      prefetch_{options_.threads == 0 ? 0 : options_.prefetch_max} {}

TimerLoop::~TimerLoop() {
    join();
    for (const auto& each : responses_) {
        if (const auto response = each.lock()) response->abandon();
    }
}

void TimerLoop::wake_with(std::function<void()> wake) {
    board_->wake_with(wake);
    events_->wake_with(std::move(wake));
}

void TimerLoop::close(TimePoint deadline) {
    close_at_ = deadline;
    settle_by_ = saturating_add(deadline, settle_timeout);
}

void TimerLoop::join() {
    board_->close();
    threads_.clear();
}

void TimerLoop::begin() {
    if (begun_.exchange(true)) return;
    try {
        for (std::size_t i = 0; i < options_.threads; ++i) {
            threads_.push_back(start_thread<std::jthread>([this] {
                const HandlerThread mark{this};
                std::optional<EndedTimer> ended;
                while (auto fired = board_->next(std::move(ended))) {
                    ended = handle(*std::move(fired));
                }
            }));
        }
    } catch (const Failure&) {
        join();
        throw;
    }
}

// --- Polling ------------------------------------------------------------------------------------

TimePoint TimerLoop::poll(TimePoint now) {
    const bool set_back = now < now_;
    if (set_back && close_at_) {
        const auto by = now_ - now;
        *close_at_ -= by;
        settle_by_ -= by;
    }
    now_ = now;
    begin();
    if (set_back) clock_set_back();
    auto events = events_->take();
    if (events.woken) schedule_.wake();
    for (auto& event : events.events) {
        std::visit([this](auto& any) { on(any); }, event);
    }
    board_->offer(std::exchange(fresh_, {}));
    if (options_.threads == 0) run_inside();
    auto report = board_->take(looks_);
    waiting_ = report.waiting;
    running_ = report.running;
    prefetch_.ended(now, report.ended.size());
    for (auto& timer : report.ended) end(std::move(timer));
    if (over()) drop_waiting();
    retry_due();
    send();
    if (close_at_) leave();
    {
        const std::lock_guard lock{trouble_mutex_};
        trouble_ = schedule_.trouble(now_);
    }
    closed_ = all_ended();
    looks_ = prefetch_.jobs() > 0 && waiting_ > 0;
    return events_->empty() ? next_poll() : now_;
}

TimePoint TimerLoop::next_poll() const {
    if (closed_) return never;
    auto next = retries_.empty() ? never : retries_.begin()->first;
    if (looks_) next = std::min(next, now_ + TimerBoard::look_interval);
    if (close_at_) {
        return std::min(next, !over() ? *close_at_ : now_ < settle_by_ ? settle_by_ : never);
    }
    if (now_ < schedule_.trouble_at()) next = std::min(next, schedule_.trouble_at());
    if (!full_since_) return std::min(next, schedule_.next());
    // No poll must be scheduled, because a slot that becomes free wakes the loop.
    if (told_busy_ || asking_) return next;
    return std::min(next, std::max(schedule_.next(), *full_since_ + busy_grace));
}

void TimerLoop::clock_set_back() {
    schedule_.clock_set_back(now_);
    if (full_since_) full_since_ = std::min(*full_since_, now_);
    auto waiting = std::exchange(retries_, {});
    for (auto& [at, confirmation] : waiting) {
        retries_.emplace(std::min(at, now_), std::move(confirmation));
    }
}

// --- Handlers -----------------------------------------------------------------------------------

/// Runs the handler. If memory is exhausted outside of the handler, the firing has failed as well,
/// and the timer fires again.
std::optional<EndedTimer> TimerLoop::handle(FiredTimer fired) {
    try {
        return handle_with_memory(std::move(fired));
    } catch (const std::bad_alloc&) {
        return EndedTimer{};
    }
}

std::optional<EndedTimer> TimerLoop::handle_with_memory(FiredTimer fired) {
    Timer timer{.space = space_,
                .id = std::move(fired.id),
                .due_at = fired.due_at,
                .retries = fired.retries,
                .retries_max = fired.retries_max,
                .confirm_by = fired.confirm_by,
                .firing = fired.firing};
    // The time to confirm is over, so the timer may have fired again elsewhere. The handler is not
    // run.
    if (clock_.now() >= timer.confirm_by) {
        log_failure(options_.log, timer, "its deadline passed before its handler began");
        return end_of(timer, false);
    }
    auto payload = decode_value(fired.payload);
    if (!payload) {
        log_failure(options_.log, timer, payload.error().message());
        return end_of(timer, false);
    }
    timer.payload = *std::move(payload);
    if (handler_.begin) {
        const auto response = std::make_shared<TimerResponse>(
            board_, options_.log, std::move(timer), clock_, options_.publications);
        begin(response);
        return std::nullopt;
    }
    TimerContext context{std::move(timer), clock_, &options_.publications};
    try {
        handler_.handle(context);
        return ended_timer(context, true);
    } catch (const Reject& reject) {
        log_failure(options_.log, context, reject.what(), true);
        return given_up_timer(context, reject.what());
    } catch (...) {
        log_failure(options_.log, context, text_of_current());
        return ended_timer(context, false);
    }
}

void TimerLoop::begin(const std::shared_ptr<TimerResponse>& response) {
    try {
        try {
            remember(response);
            handler_.begin(TimerResponder{response});
        } catch (const Reject& reject) {
            response->fail(reject.what(), true);
        } catch (...) {
            response->fail(text_of_current());
        }
    } catch (const std::bad_alloc&) {
        response->fail("out of memory");
    }
}

void TimerLoop::remember(const std::shared_ptr<TimerResponse>& response) {
    constexpr std::size_t spare = 64;
    const std::lock_guard lock{responses_mutex_};
    if (responses_.size() >= 2 * slots_ + spare) {
        std::erase_if(responses_, [](const auto& each) { return each.expired(); });
    }
    responses_.push_back(response);
}

void TimerLoop::run_inside() {
    // Begins at most one timer per slot and poll. An asynchronous handler that returns at once
    // frees its slot for the next timer, and the loop must not be kept busy for ever.
    for (std::size_t i = 0; i < slots_; ++i) {
        auto fired = board_->next_now();
        if (!fired) return;
        if (auto ended = handle(*std::move(fired))) board_->end(*std::move(ended));
    }
}

void TimerLoop::end(EndedTimer timer) {
    ++(timer.handled ? counts_.handled : counts_.failed);
    if (timer.confirm_by == never || (!timer.handled && !timer.given_up)) return;
    confirmations_.push_back({std::move(timer)});
    settle_by_ = std::max(settle_by_, saturating_add(now_, settle_timeout));
}

void TimerLoop::drop_waiting() {
    const auto left = board_->withdraw();
    waiting_ = 0;
    if (left.empty()) return;
    const auto lost = std::count_if(left.begin(), left.end(), [](const FiredTimer& timer) {
        return timer.confirm_by == never;
    });
    log(LogLevel::warning,
        std::to_string(left.size()) + " timers of " + space_ +
            " were not handled before the listener stopped: " + std::to_string(lost) +
            " without retries are lost, the others fire again");
}

// --- Replies of the store -----------------------------------------------------------------------

void TimerLoop::on(Replied& replied) {
    for (std::size_t i = 0; i < replied.confirmations.size(); ++i) {
        confirmed(replied.confirmations[i], replied.outcomes[i]);
    }
    unconfirmed_ -= replied.confirmations.size();
    if (replied.outcomes.size() > replied.confirmations.size()) took(replied.outcomes.back());
}

void TimerLoop::took(Outcome& outcome) {
    asking_ = false;
    auto taken = reply_of<TakeTimers>(outcome);
    if (!taken) {
        told_busy_ = false;
        const auto why = taken.error().message();
        if (schedule_.refused(now_, why)) {
            log(LogLevel::warning, "cannot take timers of " + space_ + ": " + why);
        }
        return;
    }
    counts_.taken += taken->timers.size();
    schedule_.answered(now_, !taken->timers.empty(), taken->wake_at);
    fresh_ = std::move(taken->timers);
}

void TimerLoop::confirmed(Confirmation& confirmation, Outcome& outcome) {
    if (!outcome) return not_confirmed(confirmation, outcome.error());
    // The step that makes the timer DEAD came too late. The timer fires again, and the store will
    // reject its follow-ups again, so nothing is logged now.
    if (confirmation.timer.given_up) return;
    const auto* completed = std::get_if<CompletedTimer>(&*outcome);
    const auto what =
        completed != nullptr ? completed->confirmation : std::get<TimerConfirmed>(*outcome);
    if (what == TimerConfirmed::unknown && !confirmation.in_doubt) too_late(confirmation.timer);
}

void TimerLoop::not_confirmed(Confirmation& confirmation, const Error& error) {
    const auto& timer = confirmation.timer;
    if (is_final_refusal(error)) {
        ++counts_.failed;
        const bool gives_up = handler_.refusal && timer.follow_ups != nullptr;
        const auto why = (gives_up ? handler_.refusal(*timer.follow_ups, error) : error).message();
        log(LogLevel::warning, "timer " + log_text(timer.id, logged_id_max) + " of " + space_ +
                                   " failed" + (gives_up ? ", and it becomes DEAD: " : ": ") + why);
        if (gives_up) give_up(timer, why);
        return;
    }
    if (confirmation.refusals == 0) {
        log(LogLevel::warning, "cannot confirm timers of " + space_ + ": " + error.message());
    }
    if (now_ >= timer.confirm_by) return too_late(timer);
    confirmation.in_doubt = confirmation.in_doubt || error.code() == Errc::timed_out;
    const auto at = now_ + refusal_backoff(confirmation.refusals++);
    retries_.emplace(at, std::move(confirmation));
}

void TimerLoop::give_up(EndedTimer timer, std::string reason) {
    timer.follow_ups = nullptr;
    timer.given_up = true;
    timer.reason = std::move(reason);
    confirmations_.push_back({std::move(timer)});
}

void TimerLoop::too_late(const EndedTimer& timer) {
    ++counts_.late;
    log(LogLevel::warning, "timer " + log_text(timer.id, logged_id_max) + " of " + space_ +
                               " was handled, but confirmed too late: it has fired again, is DEAD, "
                               "or was replaced or cancelled");
}

void TimerLoop::retry_due() {
    while (!retries_.empty() && retries_.begin()->first <= now_) {
        confirmations_.push_back(std::move(retries_.begin()->second));
        retries_.erase(retries_.begin());
    }
}

// --- Sending ------------------------------------------------------------------------------------

std::optional<TakeTimers> TimerLoop::question() {
    const auto most = slots_ + prefetch_.jobs();
    const auto taken = waiting_ + running_;
    const auto free = most - std::min(most, taken);
    if (free > 0) {
        full_since_.reset();
        if (told_busy_ && !asking_) schedule_.ask_at(now_);
    } else if (!full_since_) {
        full_since_ = now_;
    }
    if (close_at_ || !schedule_.due(now_)) return std::nullopt;
    if (free == 0 && (told_busy_ || now_ < *full_since_ + busy_grace)) return std::nullopt;
    told_busy_ = free == 0;
    return TakeTimers{
        .space = space_,
        .listener = options_.name,
        .limit = static_cast<std::uint32_t>(std::min<std::size_t>(free, options_.batch_max)),
        .confirm_within = options_.confirm_within};
}

Step TimerLoop::confirmation(const EndedTimer& timer) const {
    if (timer.given_up) {
        return GiveUpTimer{space_, timer.id, timer.retries, timer.firing, timer.reason};
    }
    if (timer.follow_ups == nullptr) {
        return ConfirmTimer{
            .space = space_, .id = timer.id, .retries = timer.retries, .firing = timer.firing};
    }
    return FollowUps{*timer.follow_ups}.step(space_, timer.id, timer.retries, timer.firing);
}

void TimerLoop::send() {
    auto ask = question();
    if (!ask && confirmations_.empty()) return;
    std::vector<Step> steps;
    steps.reserve(confirmations_.size() + 1);
    for (const auto& each : confirmations_) steps.push_back(confirmation(each.timer));
    unconfirmed_ += confirmations_.size();
    // Confirmations and `TakeTimers` are submitted together, to share a commit.
    if (ask) {
        schedule_.asked(now_);
        asking_ = true;
        joined_ = true;
        steps.emplace_back(*std::move(ask));
    }
    store_.submit(steps, now_,
                  [events = events_.shared(), confirmations = std::exchange(confirmations_, {})](
                      std::span<Outcome> outcomes) mutable {
                      events->put(Replied{std::move(confirmations),
                                          {std::make_move_iterator(outcomes.begin()),
                                           std::make_move_iterator(outcomes.end())}});
                  });
}

// --- Closing ------------------------------------------------------------------------------------

void TimerLoop::leave() {
    if (leaving_ || asking_) return;
    leaving_ = true;
    if (!joined_) {
        left_ = true;
        return;
    }
    submit(store_, LeaveTimers{space_, options_.name}, now_,
           [events = events_.shared()](const Result<Done>& done) { events->put(Left{done}); });
}

void TimerLoop::on(Left& left) {
    left_ = true;
    // The store will remove the listener later, because it does not poll.
    if (!left.done) {
        log(LogLevel::warning, "could not deregister the listener of namespace " + space_ + ": " +
                                   left.done.error().message());
    }
}

bool TimerLoop::all_ended() const noexcept {
    if (!close_at_ || waiting_ > 0 || !fresh_.empty()) return false;
    // A running handler cannot be interrupted, and its result is confirmed. The loop therefore
    // waits for running handlers. Asynchronous handlers may never report, and the loop does not
    // wait for them after the deadline.
    if (running_ > 0 && (handler_.handle || !over())) return false;
    const bool settled = left_ && unconfirmed_ == 0 && confirmations_.empty() && retries_.empty();
    return settled || now_ >= settle_by_;
}

// --- Status -------------------------------------------------------------------------------------

TimerListenerStatus TimerLoop::status() const {
    const auto read = [](const std::atomic<std::uint64_t>& count) {
        return count.load(std::memory_order_relaxed);
    };
    return {.running = board_->running(),
            .waiting = board_->waiting(),
            .taken = read(counts_.taken),
            .handled = read(counts_.handled),
            .failed = read(counts_.failed),
            .late = read(counts_.late)};
}

std::optional<std::string> TimerLoop::trouble() const {
    const std::lock_guard lock{trouble_mutex_};
    return trouble_;
}

}  // namespace routemaster::detail
