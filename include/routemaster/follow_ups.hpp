/// @file
/// `FollowUps`: jobs and events that come into the store in the moment in which a job is done.

#pragma once

#include <cstddef>
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

namespace routemaster {

/// What is to follow from one job: pushes, then publications, each in the order in which they were
/// added. They happen when the store forgets the job as done, in one step with that, or not at all.
/// See `CompleteJob`.
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

    /// Whether nothing was added.
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// How many were added.
    [[nodiscard]] std::size_t size() const noexcept {
        return pushes_.size() + publications_.size();
    }
    [[nodiscard]] const std::vector<PushJob>& pushes() const noexcept { return pushes_; }
    [[nodiscard]] const std::vector<PublishEvent>& publications() const noexcept {
        return publications_;
    }

    /// The step that ends the job of a lease with them.
    [[nodiscard]] CompleteJob step(Lease lease) && {
        return {std::move(lease), std::move(pushes_), std::move(publications_)};
    }

private:
    /// Notes one more of so many bytes, if it fits.
    Result<void> count(std::size_t bytes);

    std::vector<PushJob> pushes_;
    std::vector<PublishEvent> publications_;
    std::size_t bytes_ = 0;  // Of all.
};

}  // namespace routemaster
