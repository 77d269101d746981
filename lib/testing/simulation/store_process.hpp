/// @file
/// `StoreProcess`: the process with the store. It has the real engine, driven by simulated events
/// instead of a thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/store/watchers.hpp"
#include "embedded/engine.hpp"
#include "oracle.hpp"
#include "routemaster/store/perform.hpp"
#include "simulated_journal.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Simulated process that accepts submissions while it is up, and commits as `EmbeddedStore` does:
/// one row at a time, with all changes that arrived while the previous row was being written. Not
/// thread safe.
class StoreProcess final : public Store {
public:
    StoreProcess(SimulationContext& context, Oracle& oracle);

    /// Performs steps. Replies with the error `unavailable` while the process is down.
    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

    /// Opens the journal. The process must be down before.
    void start();

    /// Simulates a power failure. Steps without a reply are in doubt.
    void crash();

    void heal_disk();

    /// Sets the function to call instead of `crash` when a fault inside this process is a power
    /// failure.
    void crash_with(std::function<void()> crash) { crash_ = std::move(crash); }

    [[nodiscard]] bool up() const noexcept { return engine_ != nullptr; }
    [[nodiscard]] bool failing() const { return up() && engine_->failing(); }
    /// Whether all changes are on disk. An idle store replies at once.
    [[nodiscard]] bool idle() const { return up() && !failing() && !row_ && !engine_->has_work(); }
    [[nodiscard]] bool take_committed() { return std::exchange(committed_, false); }

    /// Commits, without faults, until the store is idle.
    void settle();

    /// Performs a read-only step, and returns its reply. The store must be `idle`.
    template <class S>
    typename S::Reply ask(S question, TimePoint now) {
        auto outcome = ask_any(std::move(question), now);
        return reply_of<S>(outcome).value();
    }
    [[nodiscard]] Outcome ask_any(Step step, TimePoint now);

private:
    struct Waiting {
        Completion done;
        std::size_t steps;
    };

    void replied(std::uint64_t number, std::span<Outcome> outcomes);
    void plan_commit();
    void begin_commit();
    void end_commit();
    void send(std::vector<embedded::PendingReply>& replies);
    void plan_probe();
    void probe();
    void disturb_disk();
    [[nodiscard]] Duration sync_time();
    /// Calls `what` after a span, unless the process has crashed by then.
    void later(Duration span, void (StoreProcess::*what)());

    SimulationContext& context_;
    Oracle& oracle_;
    SimulatedJournal journal_;
    std::uint64_t slack_max_;
    std::uint64_t memory_max_;
    detail::Watchers watchers_;
    std::function<void()> crash_;
    std::unique_ptr<embedded::Engine> engine_;
    // Number of starts and crashes. Events of an earlier life are ignored.
    std::uint64_t life_ = 0;
    std::map<std::uint64_t, Waiting> waiting_;  // By number of the submission.
    std::optional<embedded::JournalWriter::Row> row_;
    bool planned_ = false;
    bool unread_ = false;  // A commit failed, and the journal could not be read afterwards.
    bool committed_ = false;
};

}  // namespace routemaster::simulation
