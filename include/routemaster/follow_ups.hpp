/// @file
/// `FollowUps`: jobs, events and timers that a store adds in the atomic step of ending a job, or of
/// confirming a timer.

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

/// The follow-ups of one job, or of one firing of a timer: pushes, then publications, then timers,
/// each in the order of their addition. The store performs the follow-ups when it removes the job
/// as done, or the timer as confirmed, in one atomic step. See `CompleteJob` and `CompleteTimer`.
///
/// Thread safety: a plain value; concurrent reads are safe.
class FollowUps {
public:
    /// Adds a push, as from `JobQueue::push` at `now`. `invalid`, without a change, for a push that
    /// `JobQueue::push` would refuse, for a push with an idempotency key or with `after`, and
    /// beyond `follow_ups_max` or `follow_up_bytes_max`.
    Result<void> push(const std::string& queue, const Job& job, const PushOptions& options,
                      TimePoint now);

    /// Adds a publication, as from a `Bus` or a `Publisher` at `now`. `invalid` as for `push`. Only
    /// the store can check the publisher's right to the topic, when the job is done.
    Result<void> publish(const Event& event, const PublicationOptions& options, TimePoint now);

    /// Adds a timer, as from `Delayer::post`, and returns its id. `invalid` as for `push`.
    Result<std::string> post(const std::string& space, const Value& payload, TimePoint at,
                             TimerOptions options);

    /// Adds the follow-up of an action, under the rules of `publications`. The action itself names
    /// its publisher or its subscriber. `invalid` as for `push`; the error begins with the word for
    /// the action.
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

    /// The step that ends the job of a lease and performs these follow-ups.
    [[nodiscard]] CompleteJob step(Lease lease) && {
        return {std::move(lease), std::move(pushes_), std::move(publications_), std::move(timers_)};
    }

    /// The step that confirms a firing of a timer and performs these follow-ups.
    [[nodiscard]] CompleteTimer step(std::string space, std::string id, std::uint32_t retries,
                                     std::optional<std::int64_t> firing = {}) && {
        return {std::move(space),         std::move(id),      retries, std::move(pushes_),
                std::move(publications_), std::move(timers_), firing};
    }

private:
    /// Like `act`, but the error does not begin with the word for the action.
    Result<void> add(const TimerAction& action, const PublicationOptions& publications,
                     TimePoint now);

    /// Adds a publication; with `subscriber`, for this subscriber alone.
    Result<void> add(const Event& event, const PublicationOptions& options,
                     std::optional<std::string> subscriber, TimePoint now);

    /// Counts one follow-up of this many bytes; `invalid` beyond a limit.
    Result<void> count(std::size_t bytes);

    std::vector<PushJob> pushes_;
    std::vector<PublishEvent> publications_;
    std::vector<PostTimer> timers_;
    std::size_t bytes_ = 0;  // Of all follow-ups.
};

}  // namespace routemaster
