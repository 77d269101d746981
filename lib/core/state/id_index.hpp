/// @file
/// Jobs in the order of their ids.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/state/job_state.hpp"

namespace routemaster::detail {

/// Finds a job by its id, and those that follow. Jobs stand in sorted blocks, so that one takes
/// little more than the eight bytes of a pointer; each operation takes logarithmic time.
///
/// Owns none of them. Not thread safe.
class IdIndex {
public:
    [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }

    /// Inserts a job that is not in the index.
    void insert(JobState& job);
    /// Removes a job that is in the index.
    void remove(const JobState& job);

    /// The job of that id; null when there is none.
    [[nodiscard]] JobState* find(std::uint64_t id) const;

    /// Calls `visit` with the jobs whose ids are greater than `id`, in their order, for as long as
    /// it returns true.
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
    /// Some jobs in their order. Those in front leave first, mostly, which moves no others.
    class Block {
    public:
        explicit Block(std::vector<JobState*> jobs) : jobs_{std::move(jobs)} {}

        [[nodiscard]] std::span<JobState* const> jobs() const {
            return std::span{jobs_}.subspan(gone_);
        }
        void append(std::span<JobState* const> jobs);
        /// Makes space for that many.
        void expect(std::size_t jobs) { jobs_.reserve(jobs); }
        void insert(JobState& job);
        void remove(const JobState& job);
        /// Takes the second half out.
        std::vector<JobState*> split();

    private:
        /// Drops the places of those that have left in front.
        void close_up();

        std::vector<JobState*> jobs_;
        std::size_t gone_ = 0;  ///< Places in front whose job has left.
    };
    /// By an id that is not greater than any in the block, and greater than all before it.
    using Blocks = std::map<std::uint64_t, Block>;

    static constexpr std::size_t block_max = 256;

    /// Where a job of that id would be: the first block when all begin behind it.
    [[nodiscard]] Blocks::const_iterator block_of(std::uint64_t id) const;

    Blocks blocks_;
};

}  // namespace routemaster::detail
