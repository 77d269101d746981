#include "follow_up_accounts.hpp"

#include <charconv>
#include <cstddef>

#include "routemaster/codec/msgpack.hpp"
#include "testing/conformance/text.hpp"

namespace routemaster::simulation {

using testing::Text;

std::uint64_t number_of(std::string_view message) {
    const auto event = decode_message(message);
    if (!event) return 0;
    const auto digits = std::string_view{event->url}.substr(event->url.rfind('/') + 1);
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

std::vector<JobKey> FollowUpAccounts::begin(const CompleteJob& step) {
    std::vector<std::uint64_t> events;
    for (const auto& publication : step.publications) {
        events.push_back(number_of(publication.message));
    }
    std::vector<JobKey> possible;
    for (const auto& push : step.pushes) {
        const JobKey key{push.queue, push.job};
        auto& follow_up = all_[key];
        follow_up.job = key;
        follow_up.from = step.lease.id;
        follow_up.events = events;
        if (!follow_up.happened) possible.push_back(key);
    }
    return possible;
}

void FollowUpAccounts::happened(const CompleteJob& step, const Completed& completed) {
    followed_.insert(step.lease.id);
    for (std::size_t i = 0; i < step.pushes.size(); ++i) {
        const auto& push = step.pushes[i];
        auto& follow_up = all_[{push.queue, push.job}];
        if (follow_up.happened || completed.pushed.at(i) != PushOutcome::pushed) {
            context_.fail("a follow-up was performed twice: " + Text::of(push.job));
        }
        follow_up.happened = true;
        follow_up.in_doubt = false;
    }
}

std::vector<FollowUpAccount> FollowUpAccounts::refuted(const CompleteJob& step) {
    std::vector<FollowUpAccount> never;
    for (const auto& push : step.pushes) {
        const auto& follow_up = all_[{push.queue, push.job}];
        if (!follow_up.happened && !follow_up.in_doubt) never.push_back(follow_up);
    }
    return never;
}

void FollowUpAccounts::doubt(const CompleteJob& step) {
    for (const auto& push : step.pushes) {
        auto& follow_up = all_[{push.queue, push.job}];
        if (!follow_up.happened) follow_up.in_doubt = true;
    }
}

std::vector<FollowUpAccount> FollowUpAccounts::seen(const JobKey& key, JobId id) {
    if (followed_.contains(id)) {
        context_.fail("a job was leased again after its follow-ups were performed: " +
                      Text::of(key.second));
    }
    std::vector<FollowUpAccount> never;
    for (auto& [other, follow_up] : all_) {
        if (!follow_up.in_doubt) continue;
        if (other == key) {
            follow_up.happened = true;
            follow_up.in_doubt = false;
            followed_.insert(follow_up.from);
        } else if (follow_up.from == id) {
            follow_up.in_doubt = false;
            never.push_back(follow_up);
        }
    }
    return never;
}

std::string FollowUpAccounts::debt() const {
    for (const auto& [key, follow_up] : all_) {
        if (!follow_up.in_doubt) continue;
        return "a completed job has a follow-up that was never performed: " + Text::of(key.second);
    }
    return {};
}

}  // namespace routemaster::simulation
