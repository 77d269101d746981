/// @file
/// `Acquisition`: the step that leases jobs of a queue to a worker.

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

/// Execution of one `AcquireJobs` step on an existing queue. Leases READY jobs to the worker. The
/// object is used for one step only. Not thread safe.
class Acquisition {
public:
    using Reveal = std::function<void(const JobState&)>;

    /// All arguments must outlive the object.
    Acquisition(JobTable& jobs, QueueState& queue, const AcquireJobs& step, TimePoint now,
                const Reveal& reveal);

    /// Performs the step and returns its reply. Throws `Failure` when the first job cannot be read
    /// from the journal. No job was leased then.
    Acquired run();

private:
    /// Adds the worker's earlier leases of this queue with a fence above `known` to the reply. A
    /// lease with a fence above `newest` is repeated in full, because the reply that granted it was
    /// lost. Of the other leases, only the fences are listed in `Acquired::held`.
    void report_unknown_leases();
    void report(const JobState& job);

    /// Leases `wanted` jobs: first an equal share from each source, then from any source.
    void lease_from_sources(std::size_t wanted);
    void lease_from(ReadyJobs& source, std::size_t most);
    /// The job to lease under the rate limits when `first` is next in order: `first`, or a job of
    /// its group that was throttled before. Null when `first` was throttled instead.
    JobState* in_turn(JobState& first);

    enum class Choice : std::uint8_t { lease, skip, stop };
    /// Removes, buries or delays a job that must not run now (`skip`), and loads the payload of a
    /// job that may be leased. `stop` means that a limit of the step is reached, or that a payload
    /// cannot be read.
    Choice prepare(JobState& job);
    void lease(JobState& job);

    void set_next_due();

    [[nodiscard]] JobState* front(const ReadyJobs& source) const {
        return &source == &queue_.ready ? queue_.first_ready() : source.front();
    }
    [[nodiscard]] std::size_t count_filled() const;
    /// An upper bound of the number of leases in the reply, to reserve memory.
    [[nodiscard]] std::size_t leases_at_most() const;

    JobTable& jobs_;
    QueueState& queue_;
    const AcquireJobs& step_;
    const TimePoint now_;
    const Reveal& reveal_;
    Worker& worker_;
    Acquired acquired_;
    std::optional<QueueStatus> before_;
    QueueRates* rates_ = nullptr;  ///< Null without rate limits.
    std::array<ReadyJobs*, 1> whole_queue_{&queue_.ready};
    std::vector<ReadyJobs*> destinations_;
    std::span<ReadyJobs* const> sources_{whole_queue_};
    std::size_t bytes_ = 0;
    std::size_t leases_max_ = 0;
    std::size_t ended_ = 0;  ///< Jobs removed, buried, delayed or throttled instead of leased.
    JobSlice ends_{ended_at_acquisition_max};
};

}  // namespace routemaster::detail
