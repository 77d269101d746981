/// @file
/// `DisturbedStore`: a store that refuses steps of chosen types, loses their replies, or delays
/// their replies until the test releases them.

#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/error.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::test {

/// Passes steps to another store, and disturbs steps of the types chosen by the test.
///
/// Thread safety: as the other store, which must outlive this object.
class DisturbedStore final : public ForwardingStore {
public:
    explicit DisturbedStore(Store& next) : ForwardingStore{next} {}

    /// The next `times` steps of type `S` are not performed, and return `unavailable`.
    template <class S>
    void refuse(std::size_t times) {
        const std::lock_guard lock{mutex_};
        plan<S>().refused += times;
    }

    /// Stops refusing steps of type `S`.
    template <class S>
    void accept() {
        const std::lock_guard lock{mutex_};
        plan<S>().refused = 0;
    }

    /// The next `times` steps of type `S` are performed, but return `timed_out`.
    template <class S>
    void lose_replies(std::size_t times) {
        const std::lock_guard lock{mutex_};
        plan<S>().lost += times;
    }

    /// Submissions with a step of type `S` are performed, but get no reply until `release`.
    template <class S>
    void delay() {
        const std::lock_guard lock{mutex_};
        plan<S>().delayed = true;
    }

    /// Delivers the delayed replies in order, and stops delaying.
    void release() {
        std::vector<std::pair<Completion, std::vector<Outcome>>> kept;
        {
            const std::lock_guard lock{mutex_};
            for (auto& [kind, plan] : plans_) plan.delayed = false;
            kept = std::exchange(kept_, {});
        }
        for (auto& [done, outcomes] : kept) done(outcomes);
    }

    /// The times at which steps of type `S` were submitted, disturbed or not.
    template <class S>
    [[nodiscard]] std::vector<TimePoint> times_of() {
        const std::lock_guard lock{mutex_};
        return plan<S>().times;
    }

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        std::vector<Fate> fates;
        std::vector<Step> passed_on;
        bool delayed = false;
        {
            const std::lock_guard lock{mutex_};
            for (auto& step : steps) {
                auto& plan = plans_[step.index()];
                plan.times.push_back(now);
                delayed = delayed || plan.delayed;
                fates.push_back(fate(plan));
                if (fates.back() != Fate::refused) passed_on.push_back(std::move(step));
            }
        }
        next().submit(passed_on, now,
                      [this, fates = std::move(fates), delayed,
                       done = std::move(done)](std::span<Outcome> passed) {
                          auto outcomes = merge(fates, passed);
                          if (!delayed) return done(outcomes);
                          const std::lock_guard lock{mutex_};
                          kept_.emplace_back(done, std::move(outcomes));
                      });
    }

private:
    enum class Fate { undisturbed, refused, lost };

    struct Plan {
        std::size_t refused = 0;
        std::size_t lost = 0;
        bool delayed = false;
        std::vector<TimePoint> times{};
    };

    template <class S>
    Plan& plan() {
        return plans_[Step{S{}}.index()];
    }

    static Fate fate(Plan& plan) {
        if (plan.refused > 0) {
            --plan.refused;
            return Fate::refused;
        }
        if (plan.lost > 0) {
            --plan.lost;
            return Fate::lost;
        }
        return Fate::undisturbed;
    }

    static std::vector<Outcome> merge(const std::vector<Fate>& fates, std::span<Outcome> passed) {
        std::vector<Outcome> outcomes;
        std::size_t next = 0;
        for (const auto fate : fates) {
            if (fate == Fate::refused) {
                outcomes.emplace_back(Error{Errc::unavailable, "disturbed: refused"});
                continue;
            }
            auto& outcome = passed[next++];
            if (fate == Fate::lost) {
                outcomes.emplace_back(Error{Errc::timed_out, "disturbed: reply lost"});
            } else {
                outcomes.push_back(std::move(outcome));
            }
        }
        return outcomes;
    }

    std::mutex mutex_;  // Guards the next members.
    std::map<std::size_t, Plan> plans_;
    std::vector<std::pair<Completion, std::vector<Outcome>>> kept_;
};

}  // namespace routemaster::test
