/// @file
/// `FaultyStore`: a store that injects lost requests and lost replies, as on a network.

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
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::testing {

/// The fault of one call of `submit`, which affects all its steps.
enum class Fault {
    none,
    lost_request,  ///< No step is performed; every step returns `unavailable`.
    lost_reply,    ///< All steps are performed; every step returns `timed_out`.
};

/// Random faults of a `FaultyStore`. The probabilities together must be at most 1.
struct FaultOptions {
    std::uint64_t seed = 1;
    double lost_requests = 0;  ///< Probability, 0 to 1.
    double lost_replies = 0;   ///< Probability, 0 to 1.
};

/// Store wrapper that forwards calls of `submit` to another store, and injects faults: first as
/// scripted, then at random. The faults depend only on the script, the seed and the order of the
/// calls.
///
/// Thread safety: as safe as the wrapped store, which must outlive this store.
class FaultyStore final : public ForwardingStore {
public:
    explicit FaultyStore(Store& next, FaultOptions options = {})
        : ForwardingStore{next}, options_{options}, random_{options.seed} {}

    /// Appends faults to the script. Each is the fault of one call of `submit`.
    void script(const std::vector<Fault>& faults) {
        const std::lock_guard lock{mutex_};
        script_.insert(script_.end(), faults.begin(), faults.end());
    }

    /// Sets the random faults from now on, and seeds their generator.
    void disturb(FaultOptions options) {
        const std::lock_guard lock{mutex_};
        options_ = options;
        random_ = Random{options.seed};
    }

    /// Returns the number of calls with this fault so far.
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
