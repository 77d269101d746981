#include "routemaster/recurring_scheduler.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/jobs/work/acquire_schedule.hpp"
#include "core/jobs/work/own_profile.hpp"
#include "core/jobs/work/recurring_ticks.hpp"
#include "core/system/owner_process.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/job_schedule.hpp"
#include "routemaster/random.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster {
namespace {

/// Formats an instant as `2026-11-30T05:40:00Z`.
std::string utc_text(TimePoint at) {
    if (at == never) return "never";
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(at - day)};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%d-%02u-%02uT%02d:%02d:%02dZ", int{date.year()},
                  unsigned{date.month()}, unsigned{date.day()},
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text.data();
}

}  // namespace

class RecurringScheduler::Impl {
public:
    const detail::OwnerProcess process{"recurring scheduler"};

    Impl(Store& store, RecurringSchedulerOptions options)
        : store_{store},
          options_{std::move(options)},
          looks_{std::max(options_.poll_interval, Duration{1}), Duration{0}},
          random_{options_.seed ? *options_.seed : entropy()},
          watch_{store.watch(recurring_watch, [queue = events_.shared()] { queue->wake(); })} {}

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    TimePoint poll(TimePoint now) {
        if (now < now_) looks_.clock_set_back(now);
        now_ = now;
        auto come = events_->take();
        if (come.woken) looks_.wake();
        for (auto& event : come.events) {
            std::visit([this](auto& any) { on(any); }, event);
        }
        if (close_at_) return closed() ? never : *close_at_;
        if (!running_ && looks_.due(now)) look();
        if (!events_->empty()) return now;
        return running_ ? never : looks_.next();
    }

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    void close(TimePoint deadline) {
        close_at_ = deadline;
        if (profile_ == nullptr || retiring_) return;
        retiring_ = true;
        submit(store_, RetireWorker{worker_}, now_,
               [event_queue = events_.shared()](const Result<ReleasedJobs>&) {
                   event_queue->put(Retired{});
               });
    }

    [[nodiscard]] bool closed() const {
        return close_at_ && ((!running_ && !looking_ && !retiring_) || now_ >= *close_at_);
    }

    [[nodiscard]] RecurringSchedulerStatus status() const {
        return {.pushed = pushed_, .kept = kept_, .stale = stale_, .rescheduled = rescheduled_};
    }

private:
    /// Limits per poll. A poll runs at most `jobs_max` recurring jobs, and begins no further job
    /// after `ticks_max` ticks, because a job with missed ticks may have many.
    static constexpr std::uint32_t jobs_max = 100;
    static constexpr std::size_t ticks_max = 1'000;
    /// The delay before a rejected run, or a run in doubt, is tried again.
    static constexpr Duration retry_after{1'000};
    /// The store's clock defines due times. If it is set back by less than this, no tick is
    /// affected.
    static constexpr Duration step_back_min{1'000};

    struct Due {
        Result<DueRecurring> due;
    };
    struct Listed {
        Result<std::vector<RecurringJob>> page;
    };
    struct Ran {
        std::vector<Outcome> outcomes;
    };
    struct Kicked {
        Result<Count> kicked;
    };
    struct Retired {};
    using Event = std::variant<Due, Listed, Ran, Kicked, Retired>;
    using OwnEventQueue = detail::OwnEventQueue<Event>;

    void look() {
        looks_.asked(now_);
        asked_at_ = now_;
        looking_ = true;
        beat();
        submit(store_, DueRecurringJobs{looked_at()}, now_,
               [event_queue = events_.shared()](Result<DueRecurring> due) {
                   event_queue->put(Due{std::move(due)});
               });
    }

    /// Sends a heartbeat. Its loss would only make explanations inaccurate, so the reply is
    /// ignored.
    void beat() {
        if (now_ >= beaten_at_ && now_ < next_beat_) return;
        beaten_at_ = now_;
        next_beat_ = saturating_add(now_, options_.poll_interval);
        if (profile_ == nullptr) {
            constexpr Duration day{86'400'000};
            const auto silence =
                std::clamp(3 * std::min(options_.poll_interval, day), Duration{3'500}, 2 * day);
            auto profile = detail::own_profile(recurring_watch, now_, silence);
            profile_ = std::make_shared<const WorkerProfile>(std::move(profile));
        }
        submit(
            store_, Heartbeat{.worker = worker_, .profile = profile_}, now_,
            [](const Result<HeartbeatReply>&) {}, 0);
    }

    /// The number of due recurring jobs to request. A job that cannot be run stays due, and each
    /// reply contains it again. The number is therefore increased by the number of these jobs.
    /// Otherwise these jobs would crowd out the rest.
    [[nodiscard]] std::uint32_t looked_at() const {
        const auto broken = std::min<std::size_t>(broken_.size(), due_recurring_max - jobs_max);
        return jobs_max + static_cast<std::uint32_t>(broken);
    }

    void on(Due& reply) {
        looking_ = false;
        if (!reply.due) {
            const auto& error = reply.due.error();
            if (looks_.refused(now_, error.message())) {
                log(LogLevel::warning, "cannot read the due recurring jobs: " + error.message());
            }
            return;
        }
        const auto& due = *reply.due;
        // Converted to the clock of this process.
        const auto next_at =
            due.next_at == never
                ? never
                : saturating_add(asked_at_, std::max(due.next_at - due.now, Duration{1}));
        looks_.answered(now_, !due.jobs.empty(), next_at);
        if (close_at_) return;
        if (saturating_add(due.now, step_back_min) < store_now_) unchecked_after_.emplace();
        store_now_ = unchecked_after_ ? due.now : std::max(store_now_, due.now);
        if (unchecked_after_) return check();
        runs_.clear();
        for (const auto& job : due.jobs) {
            if (runs_.size() < ticks_max) add_runs(job, due.now);
        }
        if (!runs_.empty()) run();
    }

    /// Searches for recurring jobs whose ticks were settled while the store's clock was ahead.
    /// Without a correction, these jobs would not be due before the clock reaches the settled
    /// ticks.
    void check() {
        running_ = true;
        submit(store_, ListRecurringJobs{{.after = *unchecked_after_, .limit = jobs_max}}, now_,
               [event_queue = events_.shared()](Result<std::vector<RecurringJob>> page) {
                   event_queue->put(Listed{std::move(page)});
               });
    }

    void on(Listed& listed) {
        running_ = false;
        if (!listed.page) {
            if (!std::exchange(check_failed_, true)) {
                log(LogLevel::warning,
                    "cannot check recurring jobs: " + listed.page.error().message());
            }
            return looks_.ask_at(saturating_add(now_, retry_after));
        }
        check_failed_ = false;
        if (close_at_) return;
        const auto& page = *listed.page;
        runs_.clear();
        for (const auto& job : page) {
            if (detail::ran_ahead(job, store_now_)) add_runs(job, store_now_);
        }
        if (page.size() < jobs_max) {
            unchecked_after_.reset();
        } else {
            unchecked_after_ = page.back().name;
        }
        if (!runs_.empty()) return run();
        if (unchecked_after_) return check();
        looks_.ask_at(now_);
    }

    void run() {
        running_ = true;
        std::vector<Step> steps{runs_.begin(), runs_.end()};
        store_.submit(steps, now_, [event_queue = events_.shared()](std::span<Outcome> outcomes) {
            event_queue->put(
                Ran{{std::move_iterator{outcomes.begin()}, std::move_iterator{outcomes.end()}}});
        });
    }

    void add_runs(const RecurringJob& job, TimePoint now) {
        const auto& settings = job.settings;
        const auto schedule = JobSchedule::parse_stored(settings.schedule, settings.time_zone);
        if (!schedule) return cannot_run(job.name, schedule.error());
        if (detail::ran_ahead(job, now)) {
            return runs_.push_back(detail::reschedule_of(job, *schedule, now));
        }
        for (auto& run : detail::runs_of(job, *schedule, now, now_)) {
            runs_.push_back(std::move(run));
        }
    }

    void on(Ran& reply) {
        running_ = false;
        bool all_done = true;
        for (std::size_t i = 0; i < reply.outcomes.size(); ++i) {
            const auto run = reply_of<RunRecurringJob>(reply.outcomes[i]);
            if (run) {
                count(runs_[i], *run);
                continue;
            }
            all_done = false;
            if (runs_[i].anew) unchecked_after_.emplace();
            // A run in doubt was either performed or is still due. The next poll shows which.
            if (run.error().code() != Errc::timed_out) cannot_run(runs_[i].name, run.error());
        }
        looks_.ask_at(all_done ? now_ : saturating_add(now_, retry_after));
    }

    void count(const RunRecurringJob& step, const RecurringRun& run) {
        using What = RecurringRun::Outcome;
        broken_.erase(step.name);
        switch (run.outcome) {
            case What::pushed: ++pushed_; break;
            case What::stale: ++stale_; break;
            case What::moved:
                if (step.anew) count_rescheduled(step);
                break;
            case What::kept:
                ++kept_;
                // The job of an earlier run still exists, so this run pushed no job. If the earlier
                // job is BURIED, a kick makes it READY again. A timer needs no kick, because a post
                // replaces a DEAD timer.
                if (run.id != 0) kick(step.push->queue, run.id);
                break;
        }
    }

    void count_rescheduled(const RunRecurringJob& step) {
        ++rescheduled_;
        log(LogLevel::warning, "the clock was ahead: the due time of recurring job " + step.name +
                                   " was " + utc_text(step.at) + ", and is now " +
                                   utc_text(step.next));
        submit(store_, AddToCounters{{{{"recurring.rescheduled", {}}, 1}}}, now_,
               [](const Result<Done>&) {});
    }

    void kick(const std::string& queue, JobId id) {
        submit(store_, KickJobs{.queue = queue, .id = id}, now_,
               [event_queue = events_.shared()](Result<Count> kicked) {
                   event_queue->put(Kicked{std::move(kicked)});
               });
    }

    void on(const Retired&) { retiring_ = false; }

    void on(const Kicked& reply) {
        if (reply.kicked) return;
        log(LogLevel::warning,
            "cannot kick the job of a recurring job: " + reply.kicked.error().message());
    }

    /// Logs an error of a recurring job. Of consecutive errors, only the first is logged.
    void cannot_run(const std::string& name, const Error& error) {
        if (!broken_.insert(name).second) return;
        log(LogLevel::error, "cannot run the recurring job " + name + ": " + error.message());
    }

    void log(LogLevel level, std::string_view text) const {
        if (options_.log) options_.log(level, text);
    }

    Store& store_;
    RecurringSchedulerOptions options_;
    OwnEventQueue events_;
    detail::AcquireSchedule looks_;
    Random random_;
    const Uid worker_{random_.next(), random_.next()};
    std::shared_ptr<const WorkerProfile> profile_{};  // Null before the first heartbeat.
    TimePoint beaten_at_{};
    TimePoint next_beat_{};
    bool retiring_ = false;
    Watch watch_;
    TimePoint now_{};
    TimePoint asked_at_{};  // When the last request to the store began.
    bool looking_ = false;
    bool running_ = false;  // Runs or corrections are in progress.
    std::vector<RunRecurringJob> runs_;
    // Names of the recurring jobs whose last run failed. The failure was logged.
    std::set<std::string> broken_;
    TimePoint store_now_{};  // The latest known time of the store's clock.
    /// The recurring jobs after this name must still be checked for settled ticks in the future.
    /// Empty: all were checked.
    std::optional<std::string> unchecked_after_{std::in_place};
    bool check_failed_ = false;
    std::optional<TimePoint> close_at_;
    std::atomic<std::uint64_t> pushed_ = 0;
    std::atomic<std::uint64_t> kept_ = 0;
    std::atomic<std::uint64_t> stale_ = 0;
    std::atomic<std::uint64_t> rescheduled_ = 0;
};

RecurringScheduler::RecurringScheduler(Store& store, RecurringSchedulerOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

RecurringScheduler::~RecurringScheduler() { detail::leave_to_parent(impl_); }

TimePoint RecurringScheduler::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void RecurringScheduler::wake_with(std::function<void()> wake) {
    detail::own(impl_).wake_with(std::move(wake));
}

void RecurringScheduler::close(TimePoint deadline) { detail::own(impl_).close(deadline); }

bool RecurringScheduler::closed() const { return detail::own(impl_).closed(); }

RecurringSchedulerStatus RecurringScheduler::status() const { return detail::own(impl_).status(); }

}  // namespace routemaster
