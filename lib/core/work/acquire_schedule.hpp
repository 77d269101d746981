/// @file
/// When a worker asks its queue for jobs.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/time.hpp"

namespace routemaster::detail {

/// How long to wait before a step is sent again that the store refused so often before: 100 ms,
/// doubled each time, at most a second.
[[nodiscard]] inline Duration refusal_backoff(std::uint32_t refusals) noexcept {
    constexpr Duration shortest{100};
    constexpr Duration longest{1'000};
    return std::min(longest, shortest * (1 << std::min(refusals, 4U)));
}

/// Decides when to ask for jobs: when one falls due, when the store wakes the worker, when the
/// store could not answer before, and after an interval in any case, as a wake-up may be lost.
///
/// Where many workers share a queue, each job wakes all of them, and those that are hardly ever the
/// first need not come each time. A worker that was woken for nothing several times in a row
/// ignores wake-ups for a grace.
///
/// Thread safety: none.
class AcquireSchedule {
public:
    /// `what` it cannot do while the store does not answer, for operators.
    AcquireSchedule(Duration interval, Duration wake_grace, std::string_view what = "acquire jobs")
        : interval_{interval}, wake_grace_{wake_grace}, what_{what} {}

    /// The store says that there is a job.
    void wake() noexcept {
        woken_ = true;
        unannounced_ = false;
    }

    /// A slot or a job has become free.
    void ask_at(TimePoint at) noexcept {
        next_ = std::min(next_, at);
        idle_since_ = never;
    }

    /// There is no free slot: the store owes no wake-up.
    void busy() noexcept { idle_since_ = never; }

    /// Whether to ask now. Never while a question is unanswered.
    [[nodiscard]] bool due(TimePoint now) const noexcept {
        return !asking_ && (now >= next_ || (woken_ && now >= rested_at_));
    }

    /// A question was sent. It may not know of wake-ups that come from now on.
    void asked(TimePoint now) noexcept {
        only_woken_ = now < next_;
        unannounced_ = !woken_ && now < next_due_ && idle_since_ <= now - idle_min;
        asking_ = true;
        woken_ = false;
        if (!unanswered_since_) unanswered_since_ = now;
    }

    /// Whether the question that was sent last is a look in spite of the store: it had nothing, and
    /// since then, for a second at least, there were free slots, no job was to fall due, and no
    /// wake-up came until now. So it has nothing still, unless a wake-up was missed.
    [[nodiscard]] bool unannounced() const noexcept { return unannounced_; }

    /// The store could not answer. True for the first time in a row.
    bool refused(TimePoint now, std::string why) {
        asking_ = false;
        idle_since_ = never;
        next_ = now + refusal_backoff(refusals_++);
        refusal_ = std::move(why);
        return refusals_ == 1;
    }

    /// The store replied with jobs, or none, and with when the next falls due.
    void answered(TimePoint now, bool jobs, TimePoint next_due) noexcept {
        asking_ = false;
        refusals_ = 0;
        unanswered_since_.reset();
        // For nothing: another worker was faster, or this one had seen the job before it was woken.
        if (!only_woken_ || jobs || next_due < next_due_) {
            woken_for_nothing_ = 0;
        } else if (++woken_for_nothing_ >= woken_for_nothing_max) {
            rested_at_ = now + wake_grace_;
        }
        next_due_ = next_due;
        idle_since_ = next_due > now ? now : never;
        next_ = std::min(next_due_, now + interval_);
    }

    /// The clock was set back: what waits for an instant must not wait for it twice.
    void clock_set_back(TimePoint now) noexcept {
        next_ = std::min(next_, now);
        idle_since_ = never;
        rested_at_ = std::min(rested_at_, now);
        if (unanswered_since_) unanswered_since_ = std::min(*unanswered_since_, now);
    }

    /// When the next question is due; `never` while one is unanswered.
    [[nodiscard]] TimePoint next() const noexcept {
        if (asking_) return never;
        return woken_ ? std::min(next_, rested_at_) : next_;
    }

    /// When the store has failed to answer for so long that there is trouble; `never` when it has
    /// answered. From that instant on, `trouble` says why.
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
    bool woken_ = false;  // Since the last question was sent.
    TimePoint next_{};
    TimePoint next_due_{};                 // From the last reply.
    bool only_woken_ = false;              // The last question was not due by itself.
    TimePoint idle_since_ = never;         // When the store had nothing, and owes wake-ups since.
    bool unannounced_ = false;             // Of the last question.
    std::uint32_t woken_for_nothing_ = 0;  // In a row.
    TimePoint rested_at_{};                // When wake-ups count again.
    std::uint32_t refusals_ = 0;           // In a row.
    std::string refusal_;                  // The last of them.
    std::optional<TimePoint> unanswered_since_;
};

}  // namespace routemaster::detail
