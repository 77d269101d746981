/// @file
/// When a worker asks the store for jobs.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The delay before a refused step is sent again, after `refusals` earlier refusals: 100 ms,
/// doubled each time, at most 1 s.
[[nodiscard]] inline Duration refusal_backoff(std::uint32_t refusals) noexcept {
    constexpr Duration shortest{100};
    constexpr Duration longest{1'000};
    return std::min(longest, shortest * (1 << std::min(refusals, 4U)));
}

/// Decides when to ask the store for jobs: when a job falls due, after a wake-up, again after a
/// refusal, and after an interval in any case, as wake-ups may be lost.
///
/// When many workers share a queue, each job wakes all of them, and most find nothing. A worker
/// woken for nothing several times in a row therefore ignores wake-ups for `wake_grace`.
///
/// Thread safety: none.
class AcquireSchedule {
public:
    /// `what` describes, for operators, what the worker cannot do while the store does not reply.
    AcquireSchedule(Duration interval, Duration wake_grace, std::string_view what = "acquire jobs")
        : interval_{interval}, wake_grace_{wake_grace}, what_{what} {}

    /// Notes a wake-up from the store.
    void wake() noexcept {
        woken_ = true;
        unannounced_ = false;
    }

    /// Notes that a slot or a job has become free: asks at `at` or earlier.
    void ask_at(TimePoint at) noexcept {
        next_ = std::min(next_, at);
        idle_since_ = never;
    }

    /// Notes that no slot is free. Until a request finds no jobs, the store owes no wake-up.
    void busy() noexcept { idle_since_ = never; }

    /// Whether to ask now. Never while a request is under way.
    [[nodiscard]] bool due(TimePoint now) const noexcept {
        return !asking_ && (now >= next_ || (woken_ && now >= rested_at_));
    }

    /// Notes a request. The store may not know of wake-ups after this call.
    void asked(TimePoint now) noexcept {
        only_woken_ = now < next_;
        unannounced_ = !woken_ && now < next_due_ && idle_since_ <= now - idle_min;
        asking_ = true;
        woken_ = false;
        if (!unanswered_since_) unanswered_since_ = now;
    }

    /// Whether the last request had no reason but the interval, while the store owed a wake-up: for
    /// at least 1 s there were free slots, no job was due, and no wake-up came. If its reply has
    /// jobs, a wake-up was probably missed.
    [[nodiscard]] bool unannounced() const noexcept { return unannounced_; }

    /// Notes that the store refused the request. Returns true for the first refusal in a row.
    bool refused(TimePoint now, std::string why) {
        asking_ = false;
        idle_since_ = never;
        next_ = now + refusal_backoff(refusals_++);
        refusal_ = std::move(why);
        return refusals_ == 1;
    }

    /// Notes the reply: whether there were jobs, and when the next job falls due.
    void answered(TimePoint now, bool jobs, TimePoint next_due) noexcept {
        asking_ = false;
        refusals_ = 0;
        unanswered_since_.reset();
        // Woken for nothing: another worker was faster, or the previous reply contained the job
        // already.
        if (!only_woken_ || jobs || next_due < next_due_) {
            woken_for_nothing_ = 0;
        } else if (++woken_for_nothing_ >= woken_for_nothing_max) {
            rested_at_ = now + wake_grace_;
        }
        next_due_ = next_due;
        idle_since_ = next_due > now ? now : never;
        next_ = std::min(next_due_, now + interval_);
    }

    /// The clock was set back. Nothing must wait for an instant twice.
    void clock_set_back(TimePoint now) noexcept {
        next_ = std::min(next_, now);
        idle_since_ = never;
        rested_at_ = std::min(rested_at_, now);
        if (unanswered_since_) unanswered_since_ = std::min(*unanswered_since_, now);
    }

    /// When to ask next; `never` while a request is under way.
    [[nodiscard]] TimePoint next() const noexcept {
        if (asking_) return never;
        return woken_ ? std::min(next_, rested_at_) : next_;
    }

    /// When a missing reply makes the store unhealthy; `never` after a reply. From then on,
    /// `trouble` returns the reason.
    [[nodiscard]] TimePoint trouble_at() const noexcept {
        return unanswered_since_ ? *unanswered_since_ + trouble_after : never;
    }
    [[nodiscard]] std::optional<std::string> trouble(TimePoint now) const {
        if (now < trouble_at()) return std::nullopt;
        return "cannot " + std::string{what_} + ": " +
               (refusals_ == 0 ? std::string{"the store does not answer"} : refusal_);
    }

private:
    static constexpr std::uint32_t woken_for_nothing_max = 4;
    static constexpr Duration trouble_after{5'000};
    static constexpr Duration idle_min{1'000};

    Duration interval_;
    Duration wake_grace_;
    std::string_view what_;
    bool asking_ = false;
    bool woken_ = false;  // Woken since the last request.
    TimePoint next_{};
    TimePoint next_due_{};          // When the next job falls due, by the last reply.
    bool only_woken_ = false;       // The last request had no reason but a wake-up.
    TimePoint idle_since_ = never;  // When the store had no jobs. Since then wake-ups are owed.
    bool unannounced_ = false;      // The last request was unannounced.
    std::uint32_t woken_for_nothing_ = 0;  // Number of times in a row.
    TimePoint rested_at_{};                // When wake-ups count again.
    std::uint32_t refusals_ = 0;           // Number of refusals in a row.
    std::string refusal_;                  // The text of the last refusal.
    std::optional<TimePoint> unanswered_since_;
};

}  // namespace routemaster::detail
