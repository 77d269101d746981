/// @file
/// `AcquireSchedule`: decides when a worker polls the store for jobs.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/jobs/work/refusal.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Schedule for polling the store: when a job is due, after a wake-up, again after an error, and
/// after an interval in any case, because wake-ups may be lost.
///
/// When many workers share a queue, each job wakes all of them, and most find nothing. After
/// several wake-ups in a row without a job, a worker therefore ignores wake-ups for `wake_grace`.
///
/// Not thread safe.
class AcquireSchedule {
public:
    /// `what` completes the sentence "cannot …" for operators, shown while the store does not
    /// reply.
    AcquireSchedule(Duration interval, Duration wake_grace, std::string_view what = "acquire jobs")
        : interval_{interval}, wake_grace_{wake_grace}, what_{what} {}

    void wake() noexcept {
        woken_ = true;
        unannounced_ = false;
    }

    /// Requests a poll at `at` or earlier, for example because a slot has become free.
    void ask_at(TimePoint at) noexcept {
        next_ = std::min(next_, at);
        idle_since_ = never;
    }

    /// Records that no slot is free. The store then sends no wake-ups until a request of this
    /// worker returns fewer jobs than it asked for.
    void busy() noexcept { idle_since_ = never; }

    /// Whether to poll the store now. False while a request is in progress.
    [[nodiscard]] bool due(TimePoint now) const noexcept {
        return !asking_ && (now >= next_ || (woken_ && now >= rested_at_));
    }

    /// Records that a request is sent. A wake-up after this call may be caused by jobs that the
    /// request does not see.
    void asked(TimePoint now) noexcept {
        only_woken_ = now < next_;
        unannounced_ = !woken_ && now < next_due_ && idle_since_ <= now - idle_min;
        asking_ = true;
        woken_ = false;
        if (!unanswered_since_) unanswered_since_ = now;
    }

    /// Whether the last request was sent only because the interval had passed, although the store
    /// should have sent a wake-up for each new job: for at least 1 s, there were free slots, no job
    /// was due, and no wake-up arrived. If the reply to this request has jobs, a wake-up was
    /// probably lost.
    [[nodiscard]] bool unannounced() const noexcept { return unannounced_; }

    /// Records that the store returned an error. Returns true for the first error in a row.
    bool refused(TimePoint now, std::string why) {
        asking_ = false;
        idle_since_ = never;
        next_ = now + refusal_backoff(refusals_++);
        refusal_ = std::move(why);
        return refusals_ == 1;
    }

    void answered(TimePoint now, bool jobs, TimePoint next_due) noexcept {
        asking_ = false;
        refusals_ = 0;
        unanswered_since_.reset();
        // A wake-up was in vain if another worker acquired the job first, or if the previous reply
        // already contained the job.
        if (!only_woken_ || jobs || next_due < next_due_) {
            woken_for_nothing_ = 0;
        } else if (++woken_for_nothing_ >= woken_for_nothing_max) {
            rested_at_ = now + wake_grace_;
        }
        next_due_ = next_due;
        idle_since_ = next_due > now ? now : never;
        next_ = std::min(next_due_, now + interval_);
    }

    /// Must be called when the clock was set back. Limits all stored times to `now`, because no
    /// wait may be prolonged.
    void clock_set_back(TimePoint now) noexcept {
        next_ = std::min(next_, now);
        idle_since_ = never;
        rested_at_ = std::min(rested_at_, now);
        if (unanswered_since_) unanswered_since_ = std::min(*unanswered_since_, now);
    }

    /// When to poll the store next; `never` while a request is in progress.
    [[nodiscard]] TimePoint next() const noexcept {
        if (asking_) return never;
        return woken_ ? std::min(next_, rested_at_) : next_;
    }

    /// When the store counts as unhealthy unless it replies before; `never` after a reply. From
    /// this time on, `trouble` returns the reason.
    [[nodiscard]] TimePoint trouble_at() const noexcept {
        return unanswered_since_ ? *unanswered_since_ + trouble_after : never;
    }
    [[nodiscard]] std::optional<std::string> trouble(TimePoint now) const {
        if (now < trouble_at()) return std::nullopt;
        return "cannot " + std::string{what_} + ": " +
               (refusals_ == 0 ? std::string{"the store does not reply"} : refusal_);
    }

private:
    static constexpr std::uint32_t woken_for_nothing_max = 4;
    static constexpr Duration trouble_after{5'000};
    static constexpr Duration idle_min{1'000};

    Duration interval_;
    Duration wake_grace_;
    std::string_view what_;
    bool asking_ = false;
    bool woken_ = false;
    TimePoint next_{};
    TimePoint next_due_{};     // When the next job is due, according to the last reply.
    bool only_woken_ = false;  // Only a wake-up caused the last request.
    // Since when no job has been due. From then on, each new job should cause a wake-up.
    TimePoint idle_since_ = never;
    bool unannounced_ = false;
    std::uint32_t woken_for_nothing_ = 0;
    TimePoint rested_at_{};  // Until then, wake-ups are ignored.
    std::uint32_t refusals_ = 0;
    std::string refusal_;
    std::optional<TimePoint> unanswered_since_;
};

}  // namespace routemaster::detail
