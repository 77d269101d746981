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

/// Performs `TimerSteps`, `TimerFiringSteps` and `DeadTimerSteps`. Posts the timers of completed
/// jobs and timers. Not thread safe.
class TimerDomain {
public:
    TimerDomain(StepScope& scope, TimerTable& timers, const NameLimits& limits)
        : scope_{scope}, timers_{timers}, limits_{limits} {}

    /// The effect of a step: the specialisations are in steps/. A step without a specialisation
    /// does not compile.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(TimerSteps steps, Step& step);
    Outcome perform(TimerFiringSteps steps, Step& step);
    Outcome perform(DeadTimerSteps steps, Step& step);

    Result<TimerPosted> post(const PostTimer& step);

    // --- Follow-ups: see CompletionDomain -------------------------------------------------------

    /// Whether a confirmation names a firing that can be confirmed.
    [[nodiscard]] bool can_confirm(const ConfirmTimer& step) const {
        return timers_.meant(step) != nullptr;
    }
    void confirm(const ConfirmTimer& step) { timers_.confirm(step); }
    /// An error when some timer may not create its namespace.
    [[nodiscard]] Result<void> may_post_all(const std::vector<PostTimer>& timers) const;
    /// Posts timers after `may_post_all`.
    std::vector<TimerPosted> post_all(const std::vector<PostTimer>& timers);

private:
    /// Whether a timer of this namespace adds a namespace to the number of namespaces.
    [[nodiscard]] bool adds_namespace(const std::string& name) const;
    /// How many namespaces count for `timer_namespaces_max`.
    [[nodiscard]] std::size_t counted_namespaces() const;
    /// An error when the namespace of timers is new and there are too many namespaces.
    [[nodiscard]] Result<void> may_open(const std::string& name) const;
    [[nodiscard]] Error too_many_namespaces() const;

    StepScope& scope_;
    TimerTable& timers_;
    const NameLimits limits_;
};

}  // namespace routemaster::detail
