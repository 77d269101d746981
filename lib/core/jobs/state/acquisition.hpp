/// @file
/// `Acquisition`: leases jobs of one queue to a worker.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/jobs/state/job_slice.hpp"
#include "core/jobs/state/job_table.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// One `AcquireJobs` step upon an existing queue. Not thread safe.
class Acquisition {
public:
    /// Called with each job that the reply describes.
    using Reveal = std::function<void(const JobState&)>;

    /// All must outlive the object.
    Acquisition(JobTable& jobs, QueueState& queue, const AcquireJobs& step, TimePoint now,
                const Reveal& reveal);

    /// Throws `Failure` when the first job cannot be read; nothing was acquired then.
    Acquired run();

private:
    /// Repeats the leases that the worker does not know: their reply was lost. Other leases of this
    /// queue beyond the known leases are only named.
    void report_unknown_leases();
    void report(const JobState& job);

    /// Leases `wanted` jobs: first an equal share from each source, then from any source.
    void lease_from_sources(std::size_t wanted);
    /// Leases at most `most` jobs from one source.
    void lease_from(ReadyJobs& source, std::size_t most);
    /// `first`, or an earlier job under the rate limits; null when the job was set aside instead.
    JobState* in_turn(JobState& first);

    /// What to do with a job at the front of a source.
    enum class Choice : std::uint8_t { lease, skip, stop };
    /// Ends or delays a job that must not run, and loads the payload of a job that may.
    Choice prepare(JobState& job);
    void lease(JobState& job);

    /// When the worker should poll again.
    void set_next_due();

    [[nodiscard]] JobState* front(const ReadyJobs& source) const {
        return &source == &queue_.ready ? queue_.first_ready() : source.front();
    }
    [[nodiscard]] std::size_t count_filled() const;
    /// The greatest number of leases that the reply can have, to reserve memory.
    [[nodiscard]] std::size_t leases_at_most() const;

    JobTable& jobs_;
    QueueState& queue_;
    const AcquireJobs& step_;
    const TimePoint now_;
    const Reveal& reveal_;
    Worker& worker_;
    Acquired acquired_;
    std::optional<QueueStatus> before_;  ///< For the explanation of the first job.
    QueueRates* rates_ = nullptr;        ///< Null without rate limits.
    std::array<ReadyJobs*, 1> whole_queue_{&queue_.ready};
    std::vector<ReadyJobs*> destinations_;
    std::span<ReadyJobs* const> sources_{whole_queue_};
    std::size_t bytes_ = 0;
    std::size_t leases_max_ = 0;
    std::size_t ended_ = 0;  ///< Jobs ended, delayed or set aside instead of leased.
    JobSlice ends_{ended_at_acquisition_max};
};

}  // namespace routemaster::detail
