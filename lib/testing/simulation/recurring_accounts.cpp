#include "recurring_accounts.hpp"

#include <algorithm>
#include <charconv>
#include <variant>

#include "routemaster/codec/msgpack.hpp"

namespace routemaster::simulation {
namespace {

/// How late a tick runs at most while a scheduler is running. The scheduler polls every second, and
/// after an error a second later.
constexpr Duration tick_lateness_max{3'000};

/// With `CatchUp::skip`, a tick less late than this is run.
constexpr Duration skipped_after{60'000};

bool is_whole_second(TimePoint at) { return to_milliseconds(at) % 1'000 == 0; }

std::string name_of_tick(const std::string& name, TimePoint at) {
    return name + " at " + std::to_string(to_milliseconds(at));
}

std::string metadata_of(const Lease& lease, const char* key) {
    const auto& metadata = lease.options->metadata;
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string{} : found->second;
}

}  // namespace

bool is_about_tick_timers(const Step& step) {
    if (const auto* post = std::get_if<PostTimer>(&step)) return post->space == tick_space;
    const auto* take = std::get_if<TakeTimers>(&step);
    return take != nullptr && take->space == tick_space;
}

void RecurringAccounts::asked(const Step& step, const Submitted& when) {
    if (const auto* put = std::get_if<PutRecurringJob>(&step)) {
        const auto& wanted = *put->settings;
        settings_.emplace(put->revision,
                          Settings{JobSchedule::parse(wanted.schedule, wanted.time_zone).value(),
                                   wanted.catch_up, wanted.overlap});
        auto& account = accounts_[put->name];
        account.schedules.insert(wanted.schedule);
        // A new schedule applies from now on. No earlier tick is due.
        const bool anew = !account.certain || account.schedules.size() > 1;
        if (anew) account.settled_most = std::max(account.settled_most, when.now);
    } else if (const auto* pause = std::get_if<PauseRecurringJob>(&step)) {
        auto& account = accounts_[pause->name];
        if (!pause->paused) account.settled_most = std::max(account.settled_most, when.now);
    }
}

void RecurringAccounts::replied(const Step& step, const Outcome& outcome, const Submitted& when) {
    if (!outcome) return;
    if (const auto* run = std::get_if<RunRecurringJob>(&step)) {
        ran(*run, std::get<RecurringRun>(*outcome), when);
    } else if (const auto* put = std::get_if<PutRecurringJob>(&step)) {
        accounts_[put->name].certain = true;
    } else if (const auto* pause = std::get_if<PauseRecurringJob>(&step)) {
        if (std::get<Count>(*outcome).value == 0) return;
        auto& account = accounts_[pause->name];
        if (account.paused == true && !pause->paused) {
            account.settled = std::max(account.settled, when.now);
        }
        account.paused = pause->paused;
    } else if (std::holds_alternative<DueRecurringJobs>(step)) {
        const auto& due = std::get<DueRecurring>(*outcome);
        for (const auto& job : due.jobs) accounts_[job.name].looks.insert(due.now);
    } else if (const auto* push = std::get_if<PushJob>(&step)) {
        const auto& what = std::get<Pushed>(*outcome);
        const bool triggered = push->queue == tick_queue && what == PushOutcome::pushed;
        if (triggered && !done_.contains(what.id)) owed_.insert(what.id);
    } else if (const auto* take = std::get_if<TakeTimers>(&step)) {
        if (take->space == tick_space) took(*take, std::get<TakenTimers>(*outcome), when);
    }
}

const RecurringAccounts::Settings& RecurringAccounts::settings_of(const std::string& name,
                                                                  const Uid& revision) const {
    const auto found = settings_.find(revision);
    if (found == settings_.end()) {
        context_.fail("a recurring job has settings that no client put: " + name);
    }
    return found->second;
}

void RecurringAccounts::ran(const RunRecurringJob& step, const RecurringRun& run,
                            const Submitted& when) {
    using Ran = RecurringRun::Outcome;
    if (run.outcome == Ran::stale) return;
    const auto what = name_of_tick(step.name, step.until);
    const auto& settings = settings_of(step.name, step.revision);
    auto& account = accounts_[step.name];
    if (account.paused == true) context_.fail("a tick of a paused recurring job ran: " + what);
    if (run.outcome == Ran::moved) {
        check_passed(step, account, settings);
    } else {
        check_tick(step, account, settings, when);
    }
    if (run.outcome == Ran::pushed) {
        pushed(step, run);
        ++account.runs.least;
        ++account.runs.most;
    } else if (run.outcome == Ran::kept) {
        if (settings.overlap || done_.contains(run.id)) {
            context_.fail("a tick kept a job or timer that no longer exists: " + what);
        }
        ++account.kept.least;
        ++account.kept.most;
    }
    account.certain = true;
    account.looks.clear();
    account.settled = std::max(account.settled, step.until);
    account.settled_most = std::max(account.settled_most, step.until);
}

void RecurringAccounts::check_tick(const RunRecurringJob& step, const Account& account,
                                   const Settings& settings, const Submitted& when) const {
    const auto tick = step.until;
    const auto what = name_of_tick(step.name, tick);
    const auto& schedule = settings.schedule;
    if (tick <= account.settled) context_.fail("a settled tick ran again: " + what);
    if (tick > when.latest) context_.fail("a tick ran before its time: " + what);
    if (schedule.last(tick) != tick)
        context_.fail("a tick ran at a time that is not in its schedule: " + what);
    // `step.next` is the first tick after the time of the scheduler's poll. This tick must
    // therefore be the last tick before that poll. With `CatchUp::all`, it must be the last tick
    // before `step.next`.
    if (schedule.last(step.next - Duration{1}) != tick) {
        context_.fail("a later tick was skipped: " + what);
    }
    const auto before = schedule.last(tick - Duration{1});
    if (settings.catch_up == CatchUp::all && before && *before > account.settled_most) {
        context_.fail("a tick was skipped: " + name_of_tick(step.name, *before));
    }
    const bool recent =
        std::any_of(account.looks.begin(), account.looks.end(),
                    [tick](TimePoint look) { return look >= tick && look - tick < skipped_after; });
    if (settings.catch_up == CatchUp::skip && !recent) {
        context_.fail("a missed tick ran with catch_up=skip: " + what);
    }
    must_be_in_time(what, tick, when.now, when.moment);
}

void RecurringAccounts::check_passed(const RunRecurringJob& step, const Account& account,
                                     const Settings& settings) const {
    const auto last = settings.schedule.last(step.until);
    if (!last || *last <= account.settled_most) return;
    const bool wants_run = step.push != nullptr || step.post != nullptr;
    const bool skips = settings.catch_up == CatchUp::skip && step.until - *last >= skipped_after;
    if (wants_run || !skips) {
        context_.fail("a tick was skipped: " + name_of_tick(step.name, *last));
    }
}

void RecurringAccounts::pushed(const RunRecurringJob& step, const RecurringRun& run) {
    const Tick tick{step.name, step.until};
    if (step.post != nullptr) {
        posted_.insert(tick);
        if (!fired_.contains(tick)) unfired_.insert(tick);
        return;
    }
    must_be(tick, run.id);
    if (!done_.contains(run.id)) owed_.insert(run.id);
}

void RecurringAccounts::must_be(const Tick& tick, JobId id) {
    if (jobs_.emplace(tick, id).first->second == id) return;
    context_.fail("a tick ran twice: " + name_of_tick(tick.first, tick.second));
}

void RecurringAccounts::must_be_in_time(const std::string& what, TimePoint due, TimePoint now,
                                        TimePoint moment) const {
    const auto calm_since = std::max(context_.disturbed_until, scheduled_since_);
    const auto late = std::min(now - due, moment - calm_since);
    if (late <= tick_lateness_max) return;
    context_.fail("a tick is " + std::to_string(late.count()) + " ms late: " + what);
}

void RecurringAccounts::acquired(const Lease& lease) {
    const auto digits = metadata_of(lease, "tick");
    std::int64_t at = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), at);
    const auto tick = from_milliseconds(at);
    if (!is_whole_second(tick)) return;
    must_be({metadata_of(lease, "recurring"), tick}, lease.id);
}

void RecurringAccounts::done(const Lease& lease) {
    done_.insert(lease.id);
    owed_.erase(lease.id);
}

void RecurringAccounts::took(const TakeTimers& step, const TakenTimers& taken,
                             const Submitted& when) {
    context_.note(step.listener + " took " + std::to_string(taken.timers.size()) +
                  " timers of recurring timers");
    for (const auto& timer : taken.timers) {
        const auto payload = decode_value(timer.payload);
        const auto* name = payload ? payload->get_if<std::string>() : nullptr;
        const auto what = name_of_tick(name != nullptr ? *name : timer.id, timer.due_at);
        if (name == nullptr)
            context_.fail("a timer does not have the payload of its tick: " + what);
        if (when.now < timer.due_at)
            context_.fail("a timer of a tick fired before its due time: " + what);
        if (!is_whole_second(timer.due_at)) continue;
        const Tick tick{*name, timer.due_at};
        if (!posted_.contains(tick)) context_.fail("a timer fired that no tick posted: " + what);
        if (!fired_.insert(tick).second) {
            context_.fail("a timer of a tick fired twice: " + what);
        }
        unfired_.erase(tick);
    }
}

std::string RecurringAccounts::debt() const {
    if (!owed_.empty()) {
        return "job " + std::to_string(*owed_.begin()) + " of a recurring job was never done";
    }
    if (!unfired_.empty()) {
        const auto& [name, at] = *unfired_.begin();
        return "the timer of a tick never fired: " + name_of_tick(name, at);
    }
    return {};
}

void RecurringAccounts::doubt(const Step& step) {
    if (const auto* pause = std::get_if<PauseRecurringJob>(&step)) {
        accounts_[pause->name].paused.reset();
    } else if (const auto* run = std::get_if<RunRecurringJob>(&step)) {
        auto& account = accounts_[run->name];
        account.settled_most = std::max(account.settled_most, run->until);
        ++account.runs.most;
        ++account.kept.most;
        if (run->post != nullptr) posted_.emplace(run->name, run->until);
    } else if (const auto* take = std::get_if<TakeTimers>(&step)) {
        // The lost reply may have contained these timers. It is uncertain whether they fire.
        if (take->space == tick_space) unfired_.clear();
    }
}

void RecurringAccounts::compare(const std::vector<RecurringJob>& listed) {
    std::set<std::string> there;
    for (const auto& job : listed) {
        there.insert(job.name);
        auto& account = accounts_[job.name];
        if (job.settled_until < account.settled || job.settled_until > account.settled_most) {
            context_.fail("wrong time up to which ticks are settled: " +
                          name_of_tick(job.name, job.settled_until));
        }
        if (!account.runs.may_be(job.runs) || !account.kept.may_be(job.kept)) {
            context_.fail("wrong number of runs or kept ticks of a recurring job: " + job.name);
        }
        if (account.paused && *account.paused != job.paused) {
            context_.fail("a recurring job was paused or resumed without a request: " + job.name);
        }
        account.certain = true;
        account.paused = job.paused;
        account.schedules = {job.settings.schedule};
        account.settled = account.settled_most = job.settled_until;
        account.runs = {job.runs, job.runs};
        account.kept = {job.kept, job.kept};
        if (job.paused) continue;
        const auto& schedule = settings_of(job.name, job.revision).schedule;
        const auto next = schedule.next(job.settled_until);
        must_be_in_time(name_of_tick(job.name, next), next, context_.now(), context_.moment());
    }
    for (const auto& [name, account] : accounts_) {
        if (account.certain && !there.contains(name)) {
            context_.fail("the store lost a recurring job: " + name);
        }
    }
}

}  // namespace routemaster::simulation
