#include "timer_accounts.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "routemaster/codec/msgpack.hpp"

namespace routemaster::simulation {
namespace {

/// How late a timer fires at most while a listener has a free slot. The listener polls every
/// second, and after an error a second later.
constexpr Duration lateness_max{3'000};

std::int64_t number_in(std::string_view payload) {
    const auto value = decode_value(payload);
    const auto* number = value ? value->get_if<std::int64_t>() : nullptr;
    return number != nullptr ? *number : 0;
}

std::string name_of(const std::string& id, std::int64_t number) {
    return id + " (number " + std::to_string(number) + ")";
}

}  // namespace

void TimerAccounts::asked(const Step& step, const Submitted& when) {
    const auto* post = std::get_if<PostTimer>(&step);
    if (post == nullptr) return;
    timers_[post->id][number_in(post->payload)] = {.asked = when.number,
                                                   .retries_max = post->retries_max,
                                                   .confirm_within = post->confirm_within,
                                                   .dues = {post->due_at}};
}

void TimerAccounts::replied(const Step& step, const Outcome& outcome, const Submitted& when) {
    if (const auto* post = std::get_if<PostTimer>(&step)) {
        if (outcome) return posted(*post, std::get<TimerPosted>(*outcome), when);
        timers_[post->id].erase(number_in(post->payload));
    }
    if (!outcome) return;
    if (const auto* cancel = std::get_if<CancelTimer>(&step)) {
        if (std::get<Removal>(*outcome) == Removal::removed) ended(cancel->id, "cancelled", when);
    } else if (const auto* confirm = std::get_if<ConfirmTimer>(&step)) {
        const auto what = std::get<TimerConfirmed>(*outcome);
        if (what == TimerConfirmed::confirmed) confirmed(*confirm, when);
    } else if (const auto* postpone = std::get_if<PostponeTimer>(&step)) {
        if (std::get<Count>(*outcome).value > 0) postponed(*postpone, when);
    } else if (const auto* repost = std::get_if<RepostDeadTimers>(&step)) {
        if (std::get<Count>(*outcome).value > 0) reposted(*repost, when);
    } else if (const auto* take = std::get_if<TakeTimers>(&step)) {
        took(*take, std::get<TakenTimers>(*outcome), when);
    }
}

void TimerAccounts::posted(const PostTimer& step, TimerPosted outcome, const Submitted& when) {
    auto& all = timers_[step.id];
    const auto own = all.find(number_in(step.payload));
    if (own == all.end()) {
        context_.fail("a timer fired that no client posted: " + step.id);
    }
    const bool another = std::any_of(all.begin(), all.end(), [&when](const auto& each) {
        return each.second.certain && each.second.asked < when.number;
    });
    const auto others = forget(step.id, when.number);
    if (outcome == TimerPosted::posted && another) {
        context_.fail("a post found no timer, but an earlier timer with this id existed: " +
                      step.id);
    }
    if (outcome == TimerPosted::replaced && others == 0) {
        context_.fail("a post replaced a timer that no longer existed: " + step.id);
    }
    own->second.certain = true;
}

/// A confirmation that names a firing must name the last reported firing. Checks this.
void TimerAccounts::confirmed(const ConfirmTimer& step, const Submitted& when) {
    const auto& all = timers_[step.id];
    const bool right =
        !step.retries || !step.firing ||
        std::any_of(all.begin(), all.end(), [&step](const auto& each) {
            const auto& timer = each.second;
            return timer.last == std::int64_t{*step.retries} && timer.firing == *step.firing;
        });
    if (!right) context_.fail("a confirmation ended another firing: " + step.id);
    ended(step.id, "confirmed", when);
}

void TimerAccounts::ended(const std::string& id, const char* how, const Submitted& when) {
    if (forget(id, when.number) > 0) return;
    context_.fail(std::string{"a timer that no longer existed was "} + how + ": " + id);
}

std::size_t TimerAccounts::forget(const std::string& id, std::uint64_t before) {
    return std::erase_if(timers_[id],
                         [before](const auto& each) { return each.second.asked < before; });
}

void TimerAccounts::postponed(const PostponeTimer& step, const Submitted& when) {
    auto& all = timers_[step.id];
    const auto possible = std::count_if(all.begin(), all.end(), [&when](const auto& each) {
        return each.second.asked < when.number;
    });
    if (possible == 0) context_.fail("a timer that no longer existed was postponed: " + step.id);
    for (auto& [number, timer] : all) {
        if (timer.asked > when.number) continue;
        if (possible == 1) {
            timer.certain = true;
            timer.dues.clear();
        }
        timer.dues.insert(step.due_at);
    }
}

void TimerAccounts::reposted(const RepostDeadTimers& step, const Submitted& when) {
    for (auto& [id, all] : timers_) {
        if (step.id && *step.id != id) continue;
        for (auto& [number, timer] : all) {
            if (timer.asked > when.number || !may_be_dead(timer)) continue;
            timer.dues.insert(step.due_at);
            timer.may_restart = true;
        }
    }
}

bool TimerAccounts::may_be_dead(const Account& timer) {
    return timer.retries_max > 0 &&
           timer.last + timer.doubts >= static_cast<std::int64_t>(timer.retries_max);
}

Duration TimerAccounts::within(const Account& timer, const TakeTimers& step) {
    return timer.confirm_within == Duration{0} ? step.confirm_within : timer.confirm_within;
}

void TimerAccounts::took(const TakeTimers& step, const TakenTimers& taken, const Submitted& when) {
    may_have_come_back(when);
    auto before = TimePoint::min();
    for (const auto& firing : taken.timers) {
        if (firing.due_at < before) {
            context_.fail("a timer fired after a timer with a later due time: " + firing.id);
        }
        before = firing.due_at;
        fired(step, firing, when);
    }
}

void TimerAccounts::fired(const TakeTimers& step, const FiredTimer& firing, const Submitted& when) {
    const auto number = number_in(firing.payload);
    const auto what = name_of(firing.id, number);
    context_.note(step.listener + " took " + what + ", retry " + std::to_string(firing.retries));
    auto& all = timers_[firing.id];
    const auto found = all.find(number);
    if (found == all.end()) {
        context_.fail("a timer fired that had ended, was refused, or had used its only firing: " +
                      what);
    }
    auto& timer = found->second;
    if (when.now < firing.due_at) context_.fail("a timer fired before its due time: " + what);
    if (!timer.dues.contains(firing.due_at)) {
        context_.fail("a timer fired with a due time that no client set: " + what);
    }
    const auto retries = static_cast<std::int64_t>(firing.retries);
    const bool goes_on = retries > timer.last && retries <= timer.last + 1 + timer.doubts;
    const bool restarts = timer.may_restart && retries <= timer.doubts;
    if (!goes_on && !restarts) {
        context_.fail("a timer has a wrong number of retries: " + what + " has " +
                      std::to_string(retries) + ", before it had " + std::to_string(timer.last));
    }
    const auto confirm_by =
        timer.retries_max == 0 ? never : saturating_add(when.now, within(timer, step));
    if (firing.retries_max != timer.retries_max || firing.confirm_by != confirm_by) {
        context_.fail("a timer fired with a wrong retries_max or confirmation deadline: " + what);
    }
    must_be_in_time(what, firing.due_at, when);
    told_.emplace(number, firing.retries, firing.firing);
    std::erase_if(all, [&](const auto& each) {
        return each.first != number && each.second.asked < when.number;
    });
    if (timer.retries_max == 0) {
        all.erase(found);
        return;
    }
    timer.dues = {confirm_by};
    timer.certain = true;
    timer.last = retries;
    timer.firing = firing.firing;
    timer.doubts = 0;
    timer.may_restart = false;
    timer.holder_gone = false;
}

void TimerAccounts::must_be_in_time(const std::string& what, TimePoint due_at,
                                    const Submitted& when) const {
    const auto calm_since = std::max(context_.disturbed_until, listened_since_);
    const auto late = std::min(when.now - due_at, when.moment - calm_since);
    if (late <= lateness_max) return;
    context_.fail("a timer fired " + std::to_string(late.count()) + " ms late: " + what);
}

void TimerAccounts::began(const Timer& timer) {
    const auto* number = timer.payload.get_if<std::int64_t>();
    const bool told =
        number != nullptr && told_.erase(std::tuple{*number, timer.retries, timer.firing}) > 0;
    if (!told)
        context_.fail("a firing was handled twice, or was handled but never fired: " + timer.id);
}

void TimerAccounts::doubt(const Step& step, const Submitted& when) {
    if (const auto* post = std::get_if<PostTimer>(&step)) {
        unsettle(post->id, when.number);
    } else if (const auto* cancel = std::get_if<CancelTimer>(&step)) {
        unsettle(cancel->id, when.number);
    } else if (const auto* confirm = std::get_if<ConfirmTimer>(&step)) {
        unsettle(confirm->id, when.number);
    } else if (const auto* postpone = std::get_if<PostponeTimer>(&step)) {
        for (auto& [number, timer] : timers_[postpone->id]) {
            if (timer.asked < when.number) timer.dues.insert(postpone->due_at);
        }
    } else if (const auto* repost = std::get_if<RepostDeadTimers>(&step)) {
        reposted(*repost, when);
    } else if (const auto* take = std::get_if<TakeTimers>(&step)) {
        may_have_taken(*take, when);
    }
}

void TimerAccounts::crashed() {
    for (auto& [id, all] : timers_) {
        for (auto& [number, timer] : all) {
            if (timer.last >= 0 || timer.doubts > 0) timer.holder_gone = true;
        }
    }
}

void TimerAccounts::may_have_come_back(const Submitted& when) {
    for (auto& [id, all] : timers_) {
        for (auto& [number, timer] : all) {
            if (timer.holder_gone && timer.asked < when.number) timer.dues.insert(when.now);
        }
    }
}

void TimerAccounts::unsettle(const std::string& id, std::uint64_t before) {
    for (auto& [number, timer] : timers_[id]) {
        if (timer.asked < before) timer.certain = false;
    }
}

/// The reply to a `TakeTimers` was lost. Timers without retries in this reply are lost; all others
/// are retried.
void TimerAccounts::may_have_taken(const TakeTimers& step, const Submitted& when) {
    may_have_come_back(when);
    if (step.limit == 0) return;
    for (auto& [id, all] : timers_) {
        for (auto& [number, timer] : all) {
            if (timer.asked > when.number || when.now < *timer.dues.begin()) continue;
            if (timer.retries_max == 0) {
                timer.certain = false;
            } else {
                timer.dues.insert(saturating_add(when.now, within(timer, step)));
                ++timer.doubts;
            }
        }
    }
}

void TimerAccounts::compare(const std::vector<TimerStatus>& listed) {
    std::set<std::int64_t> there;
    for (const auto& status : listed) {
        const auto* number = status.payload.get_if<std::int64_t>();
        const auto what = name_of(status.id, number != nullptr ? *number : 0);
        auto& all = timers_[status.id];
        const auto found = number != nullptr ? all.find(*number) : all.end();
        if (found == all.end()) context_.fail("the store has a timer that must not exist: " + what);
        const auto& timer = found->second;
        const bool right =
            status.state == TimerState::dead ? may_be_dead(timer) : timer.dues.contains(status.at);
        if (!right) context_.fail("a timer has a wrong state or due time: " + what);
        there.insert(*number);
    }
    for (auto& [id, all] : timers_) {
        for (const auto& [number, timer] : all) {
            if (timer.certain && !there.contains(number)) {
                context_.fail("the store lost a timer: " + name_of(id, number));
            }
        }
        std::erase_if(all, [&there](const auto& each) { return !there.contains(each.first); });
        for (auto& [number, timer] : all) timer.certain = true;
    }
}

}  // namespace routemaster::simulation
