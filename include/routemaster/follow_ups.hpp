/// @file
/// `FollowUps`: jobs, events and timers that a store adds in the atomic step that completes a job
/// or confirms a timer.

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
#include "routemaster/store/step/completion.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/timer_options.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// List of the follow-ups of one job, or of one firing of a timer: pushes, then publications, then
/// timers, each in the order of their addition. The atomic step that removes the completed job or
/// the confirmed timer also performs the follow-ups. See `CompleteJob` and `CompleteTimer`.
///
/// Thread safety: a plain value; concurrent reads are safe.
class FollowUps {
public:
    /// Adds a push, like `JobQueue::push` at `now`. `invalid` for a push that `JobQueue::push`
    /// would reject, for a push with an idempotency key or with `after`, and beyond
    /// `follow_ups_max` or `follow_up_bytes_max`. After an error, nothing was added.
    Result<void> push(const std::string& queue, const Job& job, const PushOptions& options,
                      TimePoint now);

    /// Adds a publication, like a `Bus` or a `Publisher` at `now`. `invalid` as for `push`. Whether
    /// the publisher may use the topic is checked only by the store, when the job completes.
    Result<void> publish(const Event& event, const PublicationOptions& options, TimePoint now);

    /// Adds a timer, like `Delayer::post`, and returns its id. `invalid` as for `push`.
    Result<std::string> post(const std::string& space, const Value& payload, TimePoint at,
                             TimerOptions options);

    /// Adds the follow-up for a timer action, under the rules of `publications`. The publisher or
    /// the subscriber is the one that the action names. `invalid` as for `push`, with an error that
    /// begins with the kind of the action.
    Result<void> act(const TimerAction& action, const PublicationOptions& publications,
                     TimePoint now);

    /// Whether nothing was added.
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// The number of follow-ups.
    [[nodiscard]] std::size_t size() const noexcept {
        return pushes_.size() + publications_.size() + timers_.size();
    }
    [[nodiscard]] const std::vector<PushJob>& pushes() const noexcept { return pushes_; }
    [[nodiscard]] const std::vector<PublishEvent>& publications() const noexcept {
        return publications_;
    }

    [[nodiscard]] const std::vector<PostTimer>& timers() const noexcept { return timers_; }

    /// Returns the step that completes the job of a lease and performs these follow-ups.
    [[nodiscard]] CompleteJob step(Lease lease) && {
        return {std::move(lease), std::move(pushes_), std::move(publications_), std::move(timers_)};
    }

    /// Returns the step that confirms a firing of a timer and performs these follow-ups.
    [[nodiscard]] CompleteTimer step(std::string space, std::string id, std::uint32_t retries,
                                     std::optional<std::int64_t> firing = {}) && {
        return {std::move(space),         std::move(id),      retries, std::move(pushes_),
                std::move(publications_), std::move(timers_), firing};
    }

private:
    /// Like `act`, but the error does not begin with the kind of the action.
    Result<void> add(const TimerAction& action, const PublicationOptions& publications,
                     TimePoint now);

    /// Adds a publication; with `subscriber`, only this subscriber receives the event.
    Result<void> add(const Event& event, const PublicationOptions& options,
                     std::optional<std::string> subscriber, TimePoint now);

    /// Counts a follow-up of this many bytes; `invalid` if this exceeds a limit.
    Result<void> count(std::size_t bytes);

    std::vector<PushJob> pushes_;
    std::vector<PublishEvent> publications_;
    std::vector<PostTimer> timers_;
    std::size_t bytes_ = 0;  // Of all follow-ups.
};

}  // namespace routemaster
