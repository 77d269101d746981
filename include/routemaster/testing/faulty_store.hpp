/// @file
/// `FaultyStore`: a store that loses requests and replies, as a network does.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "routemaster/error.hpp"
#include "routemaster/random.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"

namespace routemaster::testing {

/// The fault of one submission, with all its steps.
enum class Fault {
    none,
    lost_request,  ///< No step is performed; every step returns `unavailable`.
    lost_reply,    ///< All steps are performed; every step returns `timed_out`.
};

/// Random faults of a `FaultyStore`. The sum of the probabilities must not exceed 1.
struct FaultOptions {
    std::uint64_t seed = 1;
    double lost_requests = 0;  ///< Probability, 0 to 1.
    double lost_replies = 0;   ///< Probability, 0 to 1.
};

/// Forwards submissions to another store, and loses a part of the submissions: first as scripted,
/// then at random. The lost submissions depend only on the script, the seed and the order of the
/// submissions.
///
/// Thread safety: as safe as the next store, which must outlive this store.
class FaultyStore final : public ForwardingStore {
public:
    explicit FaultyStore(Store& next, FaultOptions options = {})
        : ForwardingStore{next}, options_{options}, random_{options.seed} {}

    /// Sets the faults of the next submissions, one each, after the faults already scripted.
    void script(const std::vector<Fault>& faults) {
        const std::lock_guard lock{mutex_};
        script_.insert(script_.end(), faults.begin(), faults.end());
    }

    /// Sets the random faults from now on, and restarts the random sequence.
    void disturb(FaultOptions options) {
        const std::lock_guard lock{mutex_};
        options_ = options;
        random_ = Random{options.seed};
    }

    /// The number of submissions with this fault so far.
    [[nodiscard]] std::size_t count(Fault fault) const {
        const std::lock_guard lock{mutex_};
        return counts_[static_cast<std::size_t>(fault)];
    }

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        switch (decide()) {
            case Fault::none: return ForwardingStore::submit(steps, now, std::move(done));
            case Fault::lost_request: return answer(steps.size(), lost_request, done);
            case Fault::lost_reply:
                return ForwardingStore::submit(
                    steps, now, [done = std::move(done)](std::span<Outcome> outcomes) {
                        answer(outcomes.size(), lost_reply, done);
                    });
        }
    }

private:
    static Error lost_request() { return {Errc::unavailable, "faulty store: request lost"}; }
    static Error lost_reply() { return {Errc::timed_out, "faulty store: reply lost"}; }

    static void answer(std::size_t steps, Error (*error)(), const Completion& done) {
        std::vector<Outcome> outcomes(steps, Outcome{error()});
        done(outcomes);
    }

    Fault decide() {
        const std::lock_guard lock{mutex_};
        auto fault = Fault::none;
        if (!script_.empty()) {
            fault = script_.front();
            script_.pop_front();
        } else {
            const double draw = random_.unit();
            if (draw < options_.lost_requests + options_.lost_replies) {
                fault = draw < options_.lost_requests ? Fault::lost_request : Fault::lost_reply;
            }
        }
        ++counts_[static_cast<std::size_t>(fault)];
        return fault;
    }

    mutable std::mutex mutex_;  // Guards the members below.
    std::deque<Fault> script_;
    FaultOptions options_;
    Random random_;
    std::size_t counts_[3] = {};
};

}  // namespace routemaster::testing
