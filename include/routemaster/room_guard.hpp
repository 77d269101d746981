/// @file
/// `RoomGuard`: refuses new events and jobs while the store has no room left.
///
///     measure ──above the high mark──► refuse ──► measure … ──below the low mark──► let in

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/active.hpp"
#include "routemaster/detail/inbox.hpp"
#include "routemaster/detail/rounds.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/room.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of a `RoomGuard`.
struct RoomGuardOptions {
    RoomOptions room{};
    Duration interval{1'000};  ///< From one look to the next.
    Log log{};
};

/// A store in front of another, for publishers to use: the alternative to `Autodrop`. While the
/// other is above its high mark, publications and pushes answer `unavailable`, which the HTTP API
/// tells as 503, and nothing is lost that was ever taken in. All other steps pass, so deliveries
/// make room. Below the low mark it lets everything in again.
///
/// Looks every interval how much room the store takes, and counts the bytes it let in since: what
/// comes in between two looks cannot exceed the mark by more than its copies for further
/// subscribers. While that cannot be measured, it goes by what it knows.
///
/// Thread safety: as a store, all members may be called from any thread; else as `Active` says.
class RoomGuard final : public ForwardingStore, public Active {
public:
    /// The store must outlive it.
    explicit RoomGuard(Store& store, RoomGuardOptions options = {})
        : ForwardingStore{store}, options_{std::move(options)}, rounds_{options_.interval} {}

    RoomGuard(const RoomGuard&) = delete;
    RoomGuard& operator=(const RoomGuard&) = delete;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        if (!full()) {
            for (const auto& step : steps) let_in_ += bytes_of(step);
            return next().submit(steps, now, std::move(done));
        }
        std::vector<Step> passing;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (takes_room(steps[i])) continue;
            passing.push_back(std::move(steps[i]));
            places.push_back(i);
        }
        std::vector<Outcome> outcomes(steps.size(), Outcome{refusal()});
        if (passing.empty()) return done(outcomes);
        next().submit(passing, now,
                      [places = std::move(places), outcomes = std::move(outcomes),
                       done = std::move(done)](std::span<Outcome> passed) mutable {
                          for (std::size_t i = 0; auto& outcome : passed) {
                              outcomes[places[i++]] = std::move(outcome);
                          }
                          done(outcomes);
                      });
    }

    /// Whether new events and jobs are refused at the moment.
    [[nodiscard]] bool full() const {
        return full_ || measured_ + let_in_ > options_.room.high_mark();
    }

    TimePoint poll(TimePoint now) override {
        rounds_.tell(now);
        for (auto& letter : inbox_->take().letters) on(letter);
        if (rounds_.begin()) {
            let_in_before_ = let_in_;
            routemaster::submit(next(), MeasureUse{}, now, [inbox = inbox_](Result<StoreUse> use) {
                inbox->put(std::move(use));
            });
        }
        return inbox_->empty() ? rounds_.next_poll() : now;
    }

    void wake_with(std::function<void()> wake) override { inbox_->wake_with(std::move(wake)); }

    /// Measures nothing more; whether it refuses stays as it is.
    void close(TimePoint deadline) override { rounds_.close(deadline); }

    [[nodiscard]] bool closed() const override { return rounds_.closed(); }

private:
    using Inbox = detail::Inbox<Result<StoreUse>>;

    static bool takes_room(const Step& step) {
        return std::holds_alternative<PublishEvent>(step) || std::holds_alternative<PushJob>(step);
    }

    static std::uint64_t bytes_of(const Step& step) {
        if (const auto* event = std::get_if<PublishEvent>(&step)) return event->message.size();
        if (const auto* job = std::get_if<PushJob>(&step)) return job->job.size();
        return 0;
    }

    static Error refusal() {
        return {Errc::unavailable, "the store has no room left for new events and jobs"};
    }

    void on(const Result<StoreUse>& use) {
        rounds_.end();
        if (!use) {
            if (!std::exchange(failed_, true)) {
                log(LogLevel::warning,
                    "cannot tell how much room the store takes: " + use.error().message());
            }
            return;
        }
        failed_ = false;
        // What was let in since then may not have been counted yet.
        measured_ = use->bytes;
        let_in_ -= let_in_before_;
        const auto& room = options_.room;
        if (!full_ && use->bytes > room.high_mark()) {
            full_ = true;
            log(LogLevel::error, "new events and jobs are refused: " + told(use->bytes));
        } else if (full_ && use->bytes < room.low_mark()) {
            full_ = false;
            log(LogLevel::info, "new events and jobs are taken in again: " + told(use->bytes));
        }
    }

    [[nodiscard]] std::string told(std::uint64_t bytes) const {
        return "the store takes " + std::to_string(bytes) + " of " +
               std::to_string(options_.room.bytes_max) + " bytes";
    }

    void log(LogLevel level, std::string_view text) const {
        if (options_.log) options_.log(level, text);
    }

    RoomGuardOptions options_;
    std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
    detail::Rounds rounds_;
    std::atomic<std::uint64_t> measured_ = 0;
    std::atomic<std::uint64_t> let_in_ = 0;  // Bytes, since the last measurement began.
    std::atomic<bool> full_ = false;   // Was above the high mark, and not below the low since.
    std::uint64_t let_in_before_ = 0;  // When the measurement under way began.
    bool failed_ = false;              // The last measurement did, and that was told.
};

}  // namespace routemaster
