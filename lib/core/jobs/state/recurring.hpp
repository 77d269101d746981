/// @file
/// `RecurringTable`: the recurring jobs of the state machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/recurring_settings.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "routemaster/error.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/store/step/recurring.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

struct RecurringState : Entity {
    static constexpr Record record{
        .whole = 24, .gone = 25, .fields = 9, .fields_min = 9, .format = 7};

    RecurringState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return job.name; }
    template <class Out>
    void write(Out& out) const {
        out.text(encode_settings(job.settings));
        out.natural(job.paused ? 1 : 0);
        out.integer(to_milliseconds(job.next_at));
        out.integer(to_milliseconds(job.settled_until));
        out.optional_time(job.last_at);
        out.natural(job.runs);
        out.natural(job.kept);
        out.text(job.revision.text());
    }
    template <class In>
    void read(In& in) {
        job.name = in.text();
        job.settings = decode_settings(in.text()).value();
        job.paused = in.natural() != 0;
        job.next_at = from_milliseconds(in.integer());
        job.settled_until = from_milliseconds(in.integer());
        job.last_at = in.optional_time();
        job.runs = in.natural();
        job.kept = in.natural();
        job.revision = Uid::parse(in.text()).value_or(Uid{});
    }

    RecurringJob job;
};

/// Table of all recurring jobs, with an index by due time.
///
/// Not thread safe.
class RecurringTable {
public:
    /// `changes` must outlive the table.
    explicit RecurringTable(ChangeLog& changes) : changes_{changes} {}

    [[nodiscard]] RecurringState* find(const std::string& name) { return table_.find(name); }

    /// Performs `PutRecurringJob`. Returns true when the ticks changed and the job is not paused.
    /// The caller must then wake the schedulers.
    bool put(const PutRecurringJob& step, TimePoint now);
    void remove(RecurringState& state);
    /// Pauses or resumes a recurring job. Returns true when the caller must wake the schedulers.
    bool pause(RecurringState& state, bool paused, TimePoint now);

    [[nodiscard]] std::vector<RecurringJob> list(const Page& page) const;
    [[nodiscard]] DueRecurring due(std::uint32_t limit, TimePoint now);

    /// The recurring job that a step names. Null when the step is stale, because the job was
    /// changed, paused or run after the step was built.
    [[nodiscard]] RecurringState* fresh(const RunRecurringJob& step);
    [[nodiscard]] static bool wants_run(const RecurringState& state, const RunRecurringJob& step) {
        const bool runs = step.push != nullptr || step.post != nullptr;
        return runs && step.until > state.job.settled_until && step.until != state.job.last_at;
    }
    /// Records the ticks of a step as settled. `ran` is the outcome of the step's push or post, if
    /// any.
    void settle(RecurringState& state, const RunRecurringJob& step, RecurringRun::Outcome ran);

    [[nodiscard]] NamedTable<RecurringState>& table() noexcept { return table_; }
    /// Must be called after the table was restored.
    void settle_restored();

private:
    /// Changes the due time. A paused job is not in `due_`.
    void move(RecurringState& state, bool paused, TimePoint next_at);

    ChangeLog& changes_;
    NamedTable<RecurringState> table_;
    std::set<std::pair<TimePoint, std::string>> due_;  ///< Due time and name, unless paused.
};

}  // namespace routemaster::detail
