/// @file
/// `TimerDomain`: the timers, their firings, and the DEAD timers.

#pragma once

#include <string>
#include <vector>

#include "core/state/name_limits.hpp"
#include "core/state/step_scope.hpp"
#include "core/timers/state/timers.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Part of the state machine (`Machine`) that performs the steps on timers. Other domains use it to
/// post the timers of recurring timers, and the timers that a completed job or timer adds (its
/// follow-ups). Not thread safe.
class TimerDomain {
public:
    TimerDomain(StepScope& scope, TimerTable& timers, const NameLimits& limits)
        : scope_{scope}, timers_{timers}, limits_{limits} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(TimerSteps steps, Step& step);
    Outcome perform(TimerFiringSteps steps, Step& step);
    Outcome perform(DeadTimerSteps steps, Step& step);

    Result<TimerPosted> post(const PostTimer& step);

    // --- Follow-ups: see CompletionDomain -------------------------------------------------------

    [[nodiscard]] bool can_confirm(const ConfirmTimer& step) const {
        return timers_.meant(step) != nullptr;
    }
    void confirm(const ConfirmTimer& step) { timers_.confirm(step); }
    /// An error when one of the timers may not create its namespace.
    [[nodiscard]] Result<void> may_post_all(const std::vector<PostTimer>& timers) const;
    /// Posts timers that passed `may_post_all`.
    std::vector<TimerPosted> post_all(const std::vector<PostTimer>& timers);

private:
    /// Whether a timer would create a namespace that counts towards the limit.
    [[nodiscard]] bool adds_namespace(const std::string& name) const;
    /// How many namespaces count towards `timer_namespaces_max`.
    [[nodiscard]] std::size_t counted_namespaces() const;
    /// An error when the timer namespace does not exist and the limit of namespaces is reached.
    [[nodiscard]] Result<void> may_open(const std::string& name) const;
    [[nodiscard]] Error too_many_namespaces() const;

    StepScope& scope_;
    TimerTable& timers_;
    const NameLimits limits_;
};

}  // namespace routemaster::detail
