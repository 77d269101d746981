/// @file
/// `Steps` and `Firings`: post, take and confirm timers on any store.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/perform.hpp"
#include "run.hpp"

namespace bench {

/// The namespace of all timers.
inline constexpr const char* timer_space = "bench";

/// The length of a timer's id, which is its number.
inline constexpr std::size_t timer_id_length = 16;

/// The id of the timer number `n`.
[[nodiscard]] inline std::string timer_id(std::uint64_t n) {
    auto digits = std::to_string(n);
    digits.insert(0, timer_id_length - digits.size(), '0');
    return digits;
}

/// The payload of all timers, encoded.
[[nodiscard]] inline const std::string& timer_payload() {
    static const auto payload = routemaster::encode(
        routemaster::Value{routemaster::Value::Map{{"msg", "hello"}, {"user", 1'234'567}}});
    return payload;
}

/// Makes and submits steps, `together` at a time. A new submission follows each completion, so that
/// `in_flight` steps are always under way.
///
/// `make(n, steps)` appends step number `n`. `take(outcome)` returns the error in an outcome, or an
/// empty text.
template <class Make, class Take>
class Steps {
public:
    /// The store must outlive this object. All steps have the time `now`.
    Steps(routemaster::Store& store, routemaster::TimePoint now, std::uint32_t together,
          std::uint64_t begin, std::uint64_t end, Make make, Take take)
        : store_{store},
          now_{now},
          together_{together},
          make_{std::move(make)},
          take_{std::move(take)},
          next_{begin},
          end_{end},
          open_{end - begin} {}

    void run(std::uint32_t in_flight) {
        if (open_ == 0) return;
        for (std::uint32_t n = 0; n < in_flight; n += together_) submit();
        finish_.wait();
    }

private:
    void submit() {
        const auto begin = next_.fetch_add(together_);
        if (begin >= end_) return;
        std::vector<routemaster::Step> steps;
        steps.reserve(together_);
        for (auto n = begin; n < std::min(begin + together_, end_); ++n) make_(n, steps);
        store_.submit(steps, now_,
                      [this](std::span<routemaster::Outcome> outcomes) { answered(outcomes); });
    }

    void answered(std::span<routemaster::Outcome> outcomes) {
        for (auto& outcome : outcomes) {
            const std::string wrong = take_(outcome);
            if (!wrong.empty()) return finish_.failed(wrong);
        }
        submit();
        if (open_.fetch_sub(outcomes.size()) == outcomes.size()) finish_.reached();
    }

    routemaster::Store& store_;
    const routemaster::TimePoint now_;
    const std::uint32_t together_;
    Make make_;
    Take take_;
    std::atomic<std::uint64_t> next_;
    const std::uint64_t end_;
    std::atomic<std::uint64_t> open_;
    Finish finish_;
};

/// Makes a `take` for `Steps`: returns an error unless the reply of an `S` is `wanted`.
template <class S>
[[nodiscard]] auto expects(typename S::Reply wanted) {
    return [wanted](routemaster::Outcome& outcome) -> std::string {
        const auto reply = routemaster::reply_of<S>(outcome);
        if (!reply) return reply.error().message();
        return *reply == wanted ? "" : "an unexpected reply";
    };
}

/// Takes due timers, a thousand at a time, and confirms them, until `count` have arrived. The
/// timers of one reply are confirmed together with the next request.
///
/// Thread safety: one thread runs it.
class Firings {
public:
    /// The store must outlive this object. All steps have the time `now`.
    Firings(routemaster::Store& store, routemaster::TimePoint now, std::uint64_t count)
        : store_{store}, now_{now}, left_{count} {}

    void run() {
        submit({});
        finish_.wait();
    }

private:
    void submit(const std::vector<routemaster::FiredTimer>& fired) {
        namespace rm = routemaster;
        std::vector<rm::Step> steps;
        steps.reserve(fired.size() + 1);
        steps.emplace_back(rm::TakeTimers{
            .space = timer_space, .listener = "bench", .limit = rm::taken_timers_max});
        for (const auto& timer : fired) {
            if (timer.retries_max == 0) continue;
            steps.emplace_back(rm::ConfirmTimer{timer_space, timer.id, timer.retries});
        }
        store_.submit(steps, now_, [this](std::span<rm::Outcome> outcomes) { answered(outcomes); });
    }

    void answered(std::span<routemaster::Outcome> outcomes) {
        namespace rm = routemaster;
        for (auto& outcome : outcomes.subspan(1)) {
            const auto wrong = expects<rm::ConfirmTimer>(rm::TimerConfirmed::confirmed)(outcome);
            if (!wrong.empty()) return finish_.failed(wrong);
        }
        const auto taken = rm::reply_of<rm::TakeTimers>(outcomes.front());
        if (!taken) return finish_.failed(taken.error().message());
        const auto count = taken->timers.size();
        if (count > left_) return finish_.failed("too many timers fired");
        left_ -= count;
        if (count == 0 && left_ > 0) return finish_.failed("too few timers fired");
        if (count == 0) return finish_.reached();
        submit(taken->timers);
    }

    routemaster::Store& store_;
    const routemaster::TimePoint now_;
    std::uint64_t left_;
    Finish finish_;
};

}  // namespace bench
