/// @file
/// The job batches of the state machine.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/codec/batch_callback.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "core/state/sequence.hpp"
#include "routemaster/error.hpp"
#include "routemaster/job_batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/job_batches.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The progress of a job batch. A separate entity, because the progress changes with each job,
/// whereas `JobBatchState` rarely changes.
struct JobBatchNumbers : Entity {
    static constexpr Record record{
        .whole = 42, .gone = 43, .fields = 7, .fields_min = 7, .format = 9};

    JobBatchNumbers() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return label; }
    template <class Out>
    void write(Out& out) const {
        out.natural(progress.total);
        out.natural(progress.succeeded);
        out.natural(progress.buried);
        out.natural(progress.cancelled);
        out.natural(progress.expired);
        out.natural(progress.forgotten);
    }
    template <class In>
    void read(In& in) {
        label = in.text();
        progress.total = in.natural();
        progress.succeeded = in.natural();
        progress.buried = in.natural();
        progress.cancelled = in.natural();
        progress.expired = in.natural();
        progress.forgotten = in.natural();
    }

    std::string label;
    JobBatchProgress progress{};
};

struct JobBatchState : Entity {
    static constexpr Record record{
        .whole = 40, .gone = 41, .fields = 10, .fields_min = 10, .format = 9};

    JobBatchState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return label; }
    template <class Out>
    void write(Out& out) const {
        out.text(batch.settings.name);
        out.text(encode_callback(batch.settings.on_success));
        out.text(encode_callback(batch.settings.on_end));
        out.integer(to_milliseconds(batch.created_at));
        out.optional_time(batch.closed_at);
        out.optional_time(batch.ended_at);
        out.optional_time(batch.succeeded_at);
        out.natural(batch.end_job);
        out.natural(batch.success_job);
    }
    template <class In>
    void read(In& in) {
        label = in.text();
        batch.settings.name = in.text();
        batch.settings.on_success = decode_callback(in.text()).value();
        batch.settings.on_end = decode_callback(in.text()).value();
        batch.created_at = from_milliseconds(in.integer());
        batch.closed_at = in.optional_time();
        batch.ended_at = in.optional_time();
        batch.succeeded_at = in.optional_time();
        batch.end_job = in.natural();
        batch.success_job = in.natural();
    }

    std::string label;  ///< The id of the batch, in decimal digits.
    JobBatch batch;     ///< Without the progress, which is in `numbers`.
    JobBatchNumbers* numbers = nullptr;
};

/// Table of all job batches. Each job stores the id of its batch. If the batch was already removed,
/// the job is not counted.
///
/// Not thread safe.
class JobBatchTable {
public:
    /// The referenced objects must outlive the table.
    JobBatchTable(ChangeLog& changes, CounterTable& counters, SequenceState& last_id)
        : changes_{changes}, counters_{counters}, last_id_{last_id} {}

    Result<JobBatchCreated> create(const JobBatchSettings& settings, TimePoint now);
    [[nodiscard]] JobBatchState* find(JobBatchId id) const;
    void close(JobBatchState& state, TimePoint now);
    void remove(JobBatchState& state);

    [[nodiscard]] static JobBatch shown(const JobBatchState& state);
    [[nodiscard]] JobBatchPage list(const ListJobBatches& step) const;

    // --- Jobs of batches. The id 0 means no batch; the functions then do nothing -----------------

    using Number = std::uint64_t JobBatchProgress::*;

    [[nodiscard]] Result<void> may_join(JobBatchId id) const;
    void join(JobBatchId id) { count(id, &JobBatchProgress::total, 1); }
    void end(JobBatchId id, Number number) { count(id, number, 1); }
    void exhume(JobBatchId id) { count(id, &JobBatchProgress::buried, -1); }

    using Push = std::function<JobId(const PushJob&)>;

    /// Ends the batches that the current step completed, and pushes their callback jobs.
    void settle(TimePoint now, const Push& push);
    [[nodiscard]] bool has_touched() const noexcept { return !touched_.empty(); }

    // --- Restoring ------------------------------------------------------------------------------

    [[nodiscard]] NamedTable<JobBatchState>& table() noexcept { return table_; }
    [[nodiscard]] NamedTable<JobBatchNumbers>& numbers() noexcept { return numbers_; }
    /// To be called after both tables were restored.
    void settle_restored();

private:
    void count(JobBatchId id, Number number, int change);
    void settle(JobBatchState& state, TimePoint now, const Push& push);
    void add(JobBatchState& state);
    /// Removes the batch that ended first if it ended too long ago, or if there are too many
    /// batches. False if it may stay.
    bool forget_first(TimePoint now);
    void forget_old(TimePoint now);

    ChangeLog& changes_;
    CounterTable& counters_;
    SequenceState& last_id_;
    NamedTable<JobBatchState> table_;
    NamedTable<JobBatchNumbers> numbers_;
    std::map<JobBatchId, JobBatchState*> open_;
    std::map<JobBatchId, JobBatchState*> ended_;
    std::set<std::pair<TimePoint, JobBatchId>> ends_;
    std::unordered_map<std::string, JobBatchId> names_;
    std::set<JobBatchId> touched_;  ///< Batches changed by the current step.
};

}  // namespace routemaster::detail
