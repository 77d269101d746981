#include "routemaster/recurring_scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/system/owner_process.hpp"
#include "core/upkeep/recurring_ticks.hpp"
#include "core/work/acquire_schedule.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/job_schedule.hpp"
#include "routemaster/perform.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"

namespace routemaster {

class RecurringScheduler::Impl {
public:
    const detail::OwnerProcess process{"recurring scheduler"};

    Impl(Store& store, RecurringSchedulerOptions options)
        : store_{store},
          options_{std::move(options)},
          looks_{std::max(options_.poll_interval, Duration{1}), Duration{0}},
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

    void close(TimePoint deadline) { close_at_ = deadline; }

    [[nodiscard]] bool closed() const {
        return close_at_ && ((!running_ && !looking_) || now_ >= *close_at_);
    }

    [[nodiscard]] RecurringSchedulerStatus status() const {
        return {.pushed = pushed_, .kept = kept_, .stale = stale_};
    }

private:
    /// Recurring jobs of one look that can be run, and, when they have missed ticks, ticks that are
    /// run after it.
    static constexpr std::uint32_t jobs_max = 100;
    static constexpr std::size_t ticks_max = 1'000;
    /// How long to wait when a run was refused, or is in doubt.
    static constexpr Duration retry_after{1'000};

    struct Due {
        Result<DueRecurring> due;
    };
    struct Ran {
        std::vector<Outcome> outcomes;
    };
    struct Kicked {
        Result<Count> kicked;
    };
    using Event = std::variant<Due, Ran, Kicked>;
    using OwnEventQueue = detail::OwnEventQueue<Event>;

    void look() {
        looks_.asked(now_);
        asked_at_ = now_;
        looking_ = true;
        submit(store_, DueRecurringJobs{looked_at()}, now_,
               [event_queue = events_.shared()](Result<DueRecurring> due) {
                   event_queue->put(Due{std::move(due)});
               });
    }

    /// Those that cannot be run stay due, and must not keep the others out.
    [[nodiscard]] std::uint32_t looked_at() const {
        const auto broken = std::min<std::size_t>(broken_.size(), due_recurring_max - jobs_max);
        return jobs_max + static_cast<std::uint32_t>(broken);
    }

    void on(Due& reply) {
        looking_ = false;
        if (!reply.due) {
            const auto& error = reply.due.error();
            if (looks_.refused(now_, error.message())) {
                log(LogLevel::warning, "cannot look for recurring jobs: " + error.message());
            }
            return;
        }
        const auto& due = *reply.due;
        // By the clock of this process.
        const auto next_at =
            due.next_at == never
                ? never
                : saturating_add(asked_at_, std::max(due.next_at - due.now, Duration{1}));
        looks_.answered(now_, !due.jobs.empty(), next_at);
        if (close_at_) return;
        runs_.clear();
        for (const auto& job : due.jobs) {
            if (runs_.size() < ticks_max) add_runs(job, due.now);
        }
        if (runs_.empty()) return;
        running_ = true;
        std::vector<Step> steps{runs_.begin(), runs_.end()};
        store_.submit(steps, now_, [event_queue = events_.shared()](std::span<Outcome> outcomes) {
            event_queue->put(
                Ran{{std::move_iterator{outcomes.begin()}, std::move_iterator{outcomes.end()}}});
        });
    }

    void add_runs(const RecurringJob& job, TimePoint now) {
        const auto schedule = JobSchedule::parse(job.settings.schedule, job.settings.time_zone);
        if (!schedule) return cannot_run(job.name, schedule.error());
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
            // In doubt, it is done or due: the next look shows which.
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
            case What::moved: break;
            case What::kept:
                ++kept_;
                // What is to be run again was given up: if it is BURIED, it gets another chance.
                // A DEAD timer was replaced.
                if (run.id != 0) kick(step.push->queue, run.id);
                break;
        }
    }

    void kick(const std::string& queue, JobId id) {
        submit(store_, KickJobs{.queue = queue, .id = id}, now_,
               [event_queue = events_.shared()](Result<Count> kicked) {
                   event_queue->put(Kicked{std::move(kicked)});
               });
    }

    void on(const Kicked& reply) {
        if (reply.kicked) return;
        log(LogLevel::warning,
            "cannot kick the job of a recurring job: " + reply.kicked.error().message());
    }

    /// Logs the first of consecutive failures.
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
    Watch watch_;
    TimePoint now_{};
    TimePoint asked_at_{};               // When the last look began.
    bool looking_ = false;               // A look is under way.
    bool running_ = false;               // So are the runs.
    std::vector<RunRecurringJob> runs_;  // That were sent last.
    std::set<std::string> broken_;       // Recurring jobs whose failure was logged.
    std::optional<TimePoint> close_at_;
    std::atomic<std::uint64_t> pushed_ = 0;
    std::atomic<std::uint64_t> kept_ = 0;
    std::atomic<std::uint64_t> stale_ = 0;
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
