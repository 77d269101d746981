/// @file
/// The process that owns the store: the real engine, driven by events instead of a thread.

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
#include "routemaster/perform.hpp"
#include "simulated_journal.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Takes submissions while it is up, and commits as `EmbeddedStore` does: one row at a time, of
/// all that came while the one before was written. Not thread safe.
class StoreProcess final : public Store {
public:
    /// Both must outlive it.
    StoreProcess(SimulationContext& context, Oracle& oracle);

    /// Performs steps; `unavailable` while it is down.
    void submit(std::span<Step> steps, TimePoint now, Completion done) override;
    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override;

    /// Opens the journal. It must not be up.
    void start();

    /// Power is lost. What waits for a reply is in doubt.
    void crash();

    /// The disk works again, from now on.
    void heal_disk();

    /// Is called in place of `crash` when power is lost at a moment the process itself chose.
    void crash_with(std::function<void()> crash) { crash_ = std::move(crash); }

    [[nodiscard]] bool up() const noexcept { return engine_ != nullptr; }
    [[nodiscard]] bool failing() const { return up() && engine_->failing(); }
    /// Whether all that was done is on disk, so that everything is answered at once.
    [[nodiscard]] bool idle() const { return up() && !failing() && !row_ && !engine_->has_work(); }
    /// Whether something was written since this was asked last.
    [[nodiscard]] bool take_committed() { return std::exchange(committed_, false); }

    /// Commits until it is idle, whatever chance would do.
    void settle();

    /// What a step that changes nothing comes to. It must be `idle`.
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
    /// Lets something happen unless the process has ended by then.
    void later(Duration span, void (StoreProcess::*what)());

    SimulationContext& context_;
    Oracle& oracle_;
    SimulatedJournal journal_;
    std::uint64_t slack_max_;
    std::uint64_t memory_max_;
    detail::Watchers watchers_;
    std::function<void()> crash_;
    std::unique_ptr<embedded::Engine> engine_;
    std::uint64_t life_ = 0;  // Counts starts and crashes, so that nothing reaches the next life.
    std::map<std::uint64_t, Waiting> waiting_;         // By number of the submission.
    std::optional<embedded::JournalWriter::Row> row_;  // That is being written.
    bool planned_ = false;
    bool unread_ = false;  // After a commit failed, nothing could be read either.
    bool committed_ = false;
};

}  // namespace routemaster::simulation
