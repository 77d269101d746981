#include "routemaster/admission_control.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/store/payload_bytes.hpp"
#include "core/store/refused_steps.hpp"
#include "core/system/owner_process.hpp"
#include "core/upkeep/rounds.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/perform.hpp"

namespace routemaster {

class AdmissionControl::Impl {
public:
    const detail::OwnerProcess process{"admission control"};

    Impl(Store& store, AdmissionControlOptions options)
        : store_{store}, options_{std::move(options)}, rounds_{options_.interval} {}

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void submit(std::span<Step> steps, TimePoint now, Completion done) {
        if (!full()) {
            for (const auto& step : steps) accepted_ += detail::payload_bytes_of(step);
            return store_.submit(steps, now, std::move(done));
        }
        std::vector<Step> passing;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (takes_capacity(steps[i])) continue;
            passing.push_back(std::move(steps[i]));
            places.push_back(i);
        }
        std::vector<Outcome> outcomes(steps.size(), Outcome{refusal()});
        if (passing.empty()) return done(outcomes);
        store_.submit(passing, now,
                      [places = std::move(places), outcomes = std::move(outcomes),
                       done = std::move(done)](std::span<Outcome> passed) mutable {
                          for (std::size_t i = 0; auto& outcome : passed) {
                              outcomes[places[i++]] = std::move(outcome);
                          }
                          done(outcomes);
                      });
    }

    [[nodiscard]] bool full() const {
        return full_ || measured_ + accepted_ > options_.capacity.high_mark();
    }

    TimePoint poll(TimePoint now) {
        rounds_.begin_turn(now);
        for (auto& event : events_->take().events) on(event);
        if (rounds_.begin()) {
            accepted_before_ = accepted_;
            routemaster::submit(store_, MeasureUse{}, now,
                                [event_queue = events_.shared()](Result<StoreUse> use) {
                                    event_queue->put(std::move(use));
                                });
        }
        return events_->empty() ? rounds_.next_poll() : now;
    }

    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    void close(TimePoint deadline) { rounds_.close(deadline); }

    [[nodiscard]] bool closed() const { return rounds_.closed(); }

private:
    using OwnEventQueue = detail::OwnEventQueue<Result<StoreUse>>;

    static bool takes_capacity(const Step& step) {
        return CapacityNeed{traits_of(step).needs} == CapacityNeed::payload;
    }

    static Error refusal() {
        return {Errc::unavailable, "the store has no space left for new events and jobs"};
    }

    void on(const Result<StoreUse>& use) {
        rounds_.end();
        if (!use) {
            if (!std::exchange(failed_, true)) {
                log(LogLevel::warning,
                    "cannot measure how much space the store takes: " + use.error().message());
            }
            return;
        }
        failed_ = false;
        // The measurement may not include data that was accepted after the measurement began. This
        // data is added to its result.
        measured_ = use->bytes;
        accepted_ -= accepted_before_;
        const auto& capacity = options_.capacity;
        if (!full_ && use->bytes > capacity.high_mark()) {
            full_ = true;
            log(LogLevel::error, "new events and jobs are refused: " + use_of(use->bytes));
        } else if (full_ && use->bytes < capacity.low_mark()) {
            full_ = false;
            log(LogLevel::info, "new events and jobs are accepted again: " + use_of(use->bytes));
        }
    }

    [[nodiscard]] std::string use_of(std::uint64_t bytes) const {
        return "the store takes " + std::to_string(bytes) + " of " +
               std::to_string(options_.capacity.bytes_max) + " bytes";
    }

    void log(LogLevel level, std::string_view text) const {
        if (options_.log) options_.log(level, text);
    }

    Store& store_;
    AdmissionControlOptions options_;
    OwnEventQueue events_;
    detail::Rounds rounds_;
    std::atomic<std::uint64_t> measured_ = 0;
    std::atomic<std::uint64_t> accepted_ = 0;  // Bytes accepted since the last measurement began.
    // Whether the store is full: its use exceeded the high mark, and has not fallen below the low
    // mark since.
    std::atomic<bool> full_ = false;
    std::uint64_t accepted_before_ = 0;  // Value of `accepted_` when the measurement began.
    bool failed_ = false;
};

AdmissionControl::AdmissionControl(Store& store, AdmissionControlOptions options)
    : ForwardingStore{store}, impl_{std::make_unique<Impl>(store, std::move(options))} {}

AdmissionControl::~AdmissionControl() { detail::leave_to_parent(impl_); }

void AdmissionControl::submit(std::span<Step> steps, TimePoint now, Completion done) {
    if (!impl_->process.is_this()) {
        return detail::refuse(steps, done, impl_->process.refusal());
    }
    impl_->submit(steps, now, std::move(done));
}

bool AdmissionControl::full() const { return detail::own(impl_).full(); }

TimePoint AdmissionControl::poll(TimePoint now) { return detail::own(impl_).poll(now); }

void AdmissionControl::wake_with(std::function<void()> wake) {
    detail::own(impl_).wake_with(std::move(wake));
}

void AdmissionControl::close(TimePoint deadline) { detail::own(impl_).close(deadline); }

bool AdmissionControl::closed() const { return detail::own(impl_).closed(); }

}  // namespace routemaster
