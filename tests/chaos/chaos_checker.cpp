#include "chaos/chaos_checker.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace routemaster::test {
namespace {

class Checker {
public:
    Checker(ChaosRecord record, const ChaosRules& rules)
        : record_{std::move(record)}, rules_{rules} {}

    ChaosFindings check() {
        find_silences();
        for (auto& run : record_.runs) {
            (run.job.is_follow_up() ? follow_ups_ : jobs_)[run.job.number][run.id].push_back(&run);
        }
        for (auto* kind : {&jobs_, &follow_ups_}) {
            for (auto& [number, by_id] : *kind) {
                for (auto& [id, runs] : by_id) check_runs(runs);
            }
        }
        check_pushes();
        check_lost();
        if (beyond_ > 0) {
            findings_.violations.push_back("and " + std::to_string(beyond_) + " more");
        }
        return std::move(findings_);
    }

private:
    using Runs = std::vector<ChaosRun*>;
    struct Silence {
        ChaosTime begun;
        ChaosTime ended;
    };

    void violation(const std::string& text) {
        constexpr std::size_t most = 20;
        if (findings_.violations.size() < most) {
            findings_.violations.push_back(text);
        } else {
            ++beyond_;
        }
    }

    [[nodiscard]] static std::string text(const ChaosRun& run) {
        return (run.job.is_follow_up() ? "follow-up of " : "job ") +
               std::to_string(run.job.number) + ", attempt " + std::to_string(run.attempt) +
               " (fence " + std::to_string(run.fence) + ", process " + std::to_string(run.worker) +
               ", " + std::to_string(run.begun.count()) + " to " +
               std::to_string(run.ended.count()) + " ms)";
    }

    void find_silences() {
        for (const auto& worker : record_.workers) {
            auto& silences = silences_.emplace_back();
            auto last = worker.born;
            const auto until = [&](ChaosTime at) {
                if (at - last >= rules_.silence) silences.push_back({last, at});
                last = at;
            };
            for (const auto& pulse : worker.pulses) until(pulse.at);
            until(worker.died);
            findings_.silences += silences.size();
        }
    }

    /// Whether the former run may have continued after the latter began.
    [[nodiscard]] bool may_overlap(const ChaosRun& former, const ChaosRun& latter) const {
        const auto& silences = silences_[former.worker];
        return std::any_of(silences.begin(), silences.end(), [&](const Silence& silence) {
            return latter.begun >= silence.begun + rules_.silence &&
                   former.begun <= silence.ended + rules_.discovery &&
                   former.ended >= silence.begun;
        });
    }

    /// Checks the runs of one job.
    void check_runs(Runs& runs) {
        std::sort(runs.begin(), runs.end(),
                  [](const ChaosRun* a, const ChaosRun* b) { return a->fence < b->fence; });
        findings_.repeated += runs.size() - 1;
        for (std::size_t i = 1; i < runs.size(); ++i) {
            if (runs[i]->attempt <= runs[i - 1]->attempt) {
                violation("attempts and fences disagree: " + text(*runs[i - 1]) + " and " +
                          text(*runs[i]));
            }
            for (std::size_t former = 0; former < i; ++former) {
                check_pair(*runs[former], *runs[i]);
            }
        }
        for (std::size_t i = 0; i + 1 < runs.size(); ++i) note_handed_on(*runs[i], *runs[i + 1]);
    }

    void check_pair(const ChaosRun& former, const ChaosRun& latter) {
        if (former.fence == latter.fence) violation("two runs under one lease: " + text(former));
        if (former.ended <= latter.begun) return;
        ++findings_.overlaps;
        if (!may_overlap(former, latter)) {
            violation("ran on after its job was handed on: " + text(former) + "; " + text(latter));
        }
    }

    /// Notes a former run that ended after the job was handed on: its lease was lost. If the
    /// process of the run lived on, its pool must have counted the lost lease.
    void note_handed_on(const ChaosRun& former, const ChaosRun& latter) {
        if (former.end == ChaosRun::End::none || former.ended <= latter.begun) return;
        ++findings_.refused;
        const auto& pulses = record_.workers[former.worker].pulses;
        const auto later = std::count_if(pulses.begin(), pulses.end(), [&](const auto& pulse) {
            return pulse.at > former.ended;
        });
        if (later >= rules_.settling_pulses) ++lost_[former.worker];
    }

    void check_pushes() {
        const std::set<std::uint64_t> pushed{record_.pushed.begin(), record_.pushed.end()};
        for (const auto number : pushed) check_done(number);
        for (const auto* kind : {&jobs_, &follow_ups_}) {
            for (const auto& [number, by_id] : *kind) {
                if (!pushed.contains(number)) {
                    violation("nobody pushed job " + std::to_string(number));
                }
            }
        }
    }

    [[nodiscard]] static bool is_done(const Runs& runs) {
        return std::any_of(runs.begin(), runs.end(),
                           [](const ChaosRun* run) { return run->end == ChaosRun::End::done; });
    }

    void check_done(std::uint64_t number) {
        const auto name = "job " + std::to_string(number);
        const auto found = jobs_.find(number);
        if (found == jobs_.end()) return violation(name + " never ran");
        if (found->second.size() != 1) violation(name + " has several ids");
        const auto& runs = found->second.begin()->second;
        if (!is_done(runs)) return violation(name + " was never done");
        ++findings_.done;
        const auto& follow_ups = follow_ups_[number];
        if (follow_ups.size() != 1) {
            return violation(name + " has " + std::to_string(follow_ups.size()) + " follow-ups");
        }
        const auto& follow_up = follow_ups.begin()->second;
        if (!is_done(follow_up)) return violation("the follow-up of " + name + " was never done");
        ++findings_.done;
        check_parent(*follow_up.front(), runs);
    }

    /// A follow-up proves that the settlement of its parent was accepted.
    void check_parent(const ChaosRun& follow_up, const Runs& runs) {
        const auto parent = std::find_if(runs.begin(), runs.end(), [&](const ChaosRun* run) {
            return run->fence == follow_up.job.parent_fence;
        });
        if (parent == runs.end()) return violation("it follows from no run: " + text(follow_up));
        if ((*parent)->end != ChaosRun::End::done) {
            violation("it follows from a run that was not done: " + text(**parent));
        }
        if (*parent != runs.back()) {
            violation("settled though its lease was lost: " + text(**parent) + ", as " +
                      text(*runs.back()) + " came later");
        }
    }

    void check_lost() {
        for (const auto& [worker, lost] : lost_) {
            const auto& pulses = record_.workers[worker].pulses;
            const auto found = pulses.back().lease_lost;
            if (found < lost) {
                violation("process " + std::to_string(worker) + " lost " + std::to_string(lost) +
                          " leases at least, and found " + std::to_string(found) + " lost");
            }
        }
    }

    ChaosRecord record_;
    const ChaosRules rules_;
    ChaosFindings findings_;
    std::uint64_t beyond_ = 0;
    std::vector<std::vector<Silence>> silences_;  // By process.
    std::map<std::uint64_t, std::map<JobId, Runs>> jobs_;
    std::map<std::uint64_t, std::map<JobId, Runs>> follow_ups_;  // By the number of the parent.
    std::map<std::size_t, std::uint64_t> lost_;                  // Lost leases, by process.
};

}  // namespace

ChaosFindings check_chaos(ChaosRecord record, const ChaosRules& rules) {
    return Checker{std::move(record), rules}.check();
}

}  // namespace routemaster::test
