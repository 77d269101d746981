/// @file
/// `FollowUps`: jobs, events and timers that come into the store in the moment in which a job is
/// done, or a timer confirmed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/event.hpp"
#include "routemaster/job.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/push_options.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/completion.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/timer_options.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// What is to follow from one job, or one firing of a timer: pushes, then publications, then
/// timers, each in the order in which they were added. They happen when the store forgets the job
/// as done, or the timer as confirmed, in one step with that, or not at all. See `CompleteJob` and
/// `CompleteTimer`.
///
/// Thread safety: a value.
class FollowUps {
public:
    /// Adds a push, as `JobQueue::push` would make it at `now`. `invalid`, without a change, for
    /// what that would refuse, and beyond `follow_ups_max` or `follow_up_bytes_max`.
    Result<void> push(const std::string& queue, const Job& job, const PushOptions& options,
                      TimePoint now);

    /// Adds a publication, as a `Bus` or a `Publisher` would make it at `now`. `invalid` as above.
    /// Whether its publisher may publish in the topic turns out when the job is done.
    Result<void> publish(const Event& event, const PublicationOptions& options, TimePoint now);

    /// Adds a timer, as `Delayer::post` would post it, and returns its id. `invalid` as above.
    Result<std::string> post(const std::string& space, const Value& payload, TimePoint at,
                             TimerOptions options);

    /// Adds what an action does, with the rules of `publications`; who publishes, and for whom, the
    /// action says itself. `invalid` as above, beginning with the word for the action.
    Result<void> act(const TimerAction& action, const PublicationOptions& publications,
                     TimePoint now);

    /// Whether nothing was added.
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// How many were added.
    [[nodiscard]] std::size_t size() const noexcept {
        return pushes_.size() + publications_.size() + timers_.size();
    }
    [[nodiscard]] const std::vector<PushJob>& pushes() const noexcept { return pushes_; }
    [[nodiscard]] const std::vector<PublishEvent>& publications() const noexcept {
        return publications_;
    }

    [[nodiscard]] const std::vector<PostTimer>& timers() const noexcept { return timers_; }

    /// The step that ends the job of a lease with them.
    [[nodiscard]] CompleteJob step(Lease lease) && {
        return {std::move(lease), std::move(pushes_), std::move(publications_), std::move(timers_)};
    }

    /// The step that confirms a firing of a timer with them.
    [[nodiscard]] CompleteTimer step(std::string space, std::string id, std::uint32_t retries,
                                     std::optional<std::int64_t> firing = {}) && {
        return {std::move(space),         std::move(id),      retries, std::move(pushes_),
                std::move(publications_), std::move(timers_), firing};
    }

private:
    /// The same without that word.
    Result<void> add(const TimerAction& action, const PublicationOptions& publications,
                     TimePoint now);

    /// Adds a publication, for one subscriber alone if there is one.
    Result<void> add(const Event& event, const PublicationOptions& options,
                     std::optional<std::string> subscriber, TimePoint now);

    /// Notes one more of so many bytes, if it fits.
    Result<void> count(std::size_t bytes);

    std::vector<PushJob> pushes_;
    std::vector<PublishEvent> publications_;
    std::vector<PostTimer> timers_;
    std::size_t bytes_ = 0;  // Of all.
};

}  // namespace routemaster
