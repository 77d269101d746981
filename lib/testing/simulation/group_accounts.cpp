#include "group_accounts.hpp"

#include "testing/conformance/text.hpp"

namespace routemaster::simulation {

using testing::Text;

void GroupAccounts::asked(const PushJob& step) {
    if (step.options.group.empty()) return;
    auto& job = jobs_[{step.queue, step.job}];
    job.group = step.options.group;
    job.concurrency = step.options.concurrency;
}

void GroupAccounts::pushed(const PushJob& step, TimePoint now, std::uint64_t number,
                           std::uint64_t last) {
    const auto found = jobs_.find({step.queue, step.job});
    if (found == jobs_.end()) return;
    auto& job = found->second;
    job.begun = false;
    job.due = step.run_at <= now && step.after.empty();
    job.asked = number;
    job.answered = last;
}

void GroupAccounts::acquired(const JobKey& key, const std::function<bool(const JobKey&)>& certain) {
    const auto found = jobs_.find(key);
    if (found == jobs_.end() || found->second.begun) return;
    auto& job = found->second;
    std::uint32_t ahead = 0;
    for (const auto& [other, account] : jobs_) {
        if (account.group != job.group || other.first != key.first || !certain(other)) continue;
        if (account.begun) ++ahead;
        const bool before = account.due && job.due && account.answered < job.asked;
        if (before && !account.begun && job.concurrency == 1) {
            context_.fail(Text::of(key.second) + " overtakes " + Text::of(other.second) +
                          " of its group");
        }
    }
    if (ahead >= job.concurrency) {
        context_.fail("too many jobs of group " + job.group +
                      " run at once: " + Text::of(key.second));
    }
    job.begun = true;
}

bool GroupAccounts::may_wait(const JobKey& key,
                             const std::function<bool(const JobKey&)>& may_be_there) const {
    const auto found = jobs_.find(key);
    if (found == jobs_.end()) return false;
    const auto& job = found->second;
    std::uint32_t others = 0;
    for (const auto& [other, account] : jobs_) {
        if (other == key || other.first != key.first || account.group != job.group) continue;
        if (account.begun && may_be_there(other)) ++others;
    }
    return others >= job.concurrency;
}

void GroupAccounts::gone(const JobKey& key) { jobs_.erase(key); }

}  // namespace routemaster::simulation
