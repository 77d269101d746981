/// @file
/// `EqualJobs`: which pushes in a list are duplicates of other jobs.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/jobs/state/job_table.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Finds, for each push without a key, the equal job in its queue, if any. Jobs are looked up
/// before any change, because reading from a journal may fail.
class EqualJobs {
public:
    /// `done`, if not null, is about to be completed. A push of an equal job is then allowed.
    EqualJobs(JobTable& jobs, const std::vector<PushJob>& pushes, const JobState* done);

    /// The id of the job that excludes a push, because it is equal: an existing job, or the job of
    /// an earlier push in the list. `place` is the index of the push in the list.
    [[nodiscard]] std::optional<JobId> of(const PushJob& push, std::size_t place) const;

    /// Records a pushed job. `push` must outlive the object.
    void add(const PushJob& push, JobId id) { pushed_[{push.queue, push.job}] = id; }

private:
    std::vector<const JobState*> found_;
    std::map<std::pair<std::string_view, std::string_view>, JobId> pushed_;
};

}  // namespace routemaster::detail
