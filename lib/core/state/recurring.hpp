/// @file
/// The recurring jobs of the state machine.

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
#include "routemaster/step/recurring.hpp"
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

/// All recurring jobs, and their order by due time.
///
/// Not thread safe.
class RecurringTable {
public:
    /// Must outlive the table.
    explicit RecurringTable(ChangeLog& changes) : changes_{changes} {}

    [[nodiscard]] RecurringState* find(const std::string& name) { return table_.find(name); }

    /// As `PutRecurringJob`. Returns true when the ticks changed and the job is not paused: its
    /// schedulers must be woken.
    bool put(const PutRecurringJob& step, TimePoint now);
    void remove(RecurringState& state);
    /// Returns true when its schedulers must be woken.
    bool pause(RecurringState& state, bool paused, TimePoint now);

    [[nodiscard]] std::vector<RecurringJob> list(const Page& page) const;
    [[nodiscard]] DueRecurring due(std::uint32_t limit, TimePoint now);

    /// The recurring job named by a step; null when the step is stale.
    [[nodiscard]] RecurringState* fresh(const RunRecurringJob& step);
    /// Whether the tick of a step must still run.
    [[nodiscard]] static bool wants_run(const RecurringState& state, const RunRecurringJob& step) {
        const bool runs = step.push != nullptr || step.post != nullptr;
        return runs && step.until > state.job.settled_until && step.until != state.job.last_at;
    }
    /// Settles the ticks of a step. `ran` tells the outcome of its push or post, if any.
    void settle(RecurringState& state, const RunRecurringJob& step, RecurringRun::Outcome ran);

    /// For a journal.
    [[nodiscard]] NamedTable<RecurringState>& table() noexcept { return table_; }
    /// Called after the table was restored.
    void settle_restored();

private:
    /// Changes the due time. The job is in `due_` while not paused.
    void move(RecurringState& state, bool paused, TimePoint next_at);

    ChangeLog& changes_;
    NamedTable<RecurringState> table_;
    std::set<std::pair<TimePoint, std::string>> due_;  ///< Due time and name of each.
};

}  // namespace routemaster::detail
