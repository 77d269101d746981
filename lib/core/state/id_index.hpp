/// @file
/// An index of jobs, sorted by id.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/jobs/state/job_state.hpp"

namespace routemaster::detail {

/// Index that finds jobs by id and iterates over jobs in the order of their ids. Pointers are
/// stored in sorted blocks. A job takes little more than 8 bytes, and each operation takes
/// logarithmic time.
///
/// The index does not own the jobs. Not thread safe.
class IdIndex {
public:
    [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }

    /// Inserts a job. The index must not contain the job.
    void insert(JobState& job);
    /// Removes a job. The index must contain the job.
    void remove(const JobState& job);

    [[nodiscard]] JobState* find(std::uint64_t id) const;

    /// Calls `visit` with the jobs whose ids are greater than `id`, in ascending order, until it
    /// returns false.
    template <class Visit>
    void after(std::uint64_t id, Visit visit) const {
        if (id == UINT64_MAX) return;
        for (auto block = block_of(id + 1); block != blocks_.end(); ++block) {
            for (auto* job : block->second.jobs()) {
                if (job->order > id && !visit(*job)) return;
            }
        }
    }

private:
    /// Sorted array of jobs. Removing the first job leaves an unused entry instead of moving all
    /// others, because most removed jobs are the first.
    class Block {
    public:
        explicit Block(std::vector<JobState*> jobs) : jobs_{std::move(jobs)} {}

        [[nodiscard]] std::span<JobState* const> jobs() const {
            return std::span{jobs_}.subspan(gone_);
        }
        void append(std::span<JobState* const> jobs);
        void expect(std::size_t jobs) { jobs_.reserve(jobs); }
        void insert(JobState& job);
        void remove(const JobState& job);
        std::vector<JobState*> split();

    private:
        void close_up();

        std::vector<JobState*> jobs_;
        std::size_t gone_ = 0;
    };
    /// Blocks by a lower bound of the ids in the block. The bound is greater than all ids in
    /// earlier blocks.
    using Blocks = std::map<std::uint64_t, Block>;

    static constexpr std::size_t block_max = 256;

    /// The block for an id. For an id before all blocks, the first block.
    [[nodiscard]] Blocks::const_iterator block_of(std::uint64_t id) const;

    Blocks blocks_;
};

}  // namespace routemaster::detail
