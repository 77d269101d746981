/// @file
/// `EqualJobs`: which of several pushes are duplicates.

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

/// The existing jobs equal to some pushes without a key. They are looked up before any change,
/// because their bytes may have to be read from a journal.
class EqualJobs {
public:
    /// `done`, if any, is about to end and excludes no push.
    EqualJobs(JobTable& jobs, const std::vector<PushJob>& pushes, const JobState* done);

    /// The id of the job excluding a push: an existing job, or a job of an earlier push.
    [[nodiscard]] std::optional<JobId> of(const PushJob& push, std::size_t place) const;

    /// Notes a pushed job. `push` must outlive the object.
    void add(const PushJob& push, JobId id) { pushed_[{push.queue, push.job}] = id; }

private:
    std::vector<const JobState*> found_;
    std::map<std::pair<std::string_view, std::string_view>, JobId> pushed_;
};

}  // namespace routemaster::detail
