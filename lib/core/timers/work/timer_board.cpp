#include "core/timers/work/timer_board.hpp"

#include <iterator>
#include <utility>

namespace routemaster::detail {

void TimerBoard::wake_with(std::function<void()> wake) {
    const std::lock_guard lock{mutex_};
    wake_ = std::move(wake);
    woken_ = false;
}

void TimerBoard::wake_loop() {
    if (std::exchange(woken_, true) || !wake_) return;
    wake_();
}

void TimerBoard::offer(std::vector<FiredTimer> fresh) {
    if (fresh.empty()) return;
    const std::lock_guard lock{mutex_};
    places_.resize(places_.size() + fresh.size());
    waiting_.insert(waiting_.end(), std::make_move_iterator(fresh.begin()),
                    std::make_move_iterator(fresh.end()));
    refill_ = waiting_.size() / 2;
    if (may_begin()) idle_.wake_one();
}

TimerBoard::Report TimerBoard::take(bool looks) {
    const std::lock_guard lock{mutex_};
    woken_ = false;
    looks_ = looks;
    return {std::exchange(ended_, {}), waiting_.size(), running_};
}

std::vector<FiredTimer> TimerBoard::withdraw() {
    const std::lock_guard lock{mutex_};
    const auto all = std::exchange(waiting_, {});
    places_.resize(places_.size() - all.size());
    return {all.begin(), all.end()};
}

void TimerBoard::close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    wake_ = {};
    idle_.wake_all();
}

std::size_t TimerBoard::running() const {
    const std::lock_guard lock{mutex_};
    return running_;
}

std::size_t TimerBoard::waiting() const {
    const std::lock_guard lock{mutex_};
    return waiting_.size();
}

std::optional<FiredTimer> TimerBoard::next(std::optional<EndedTimer> ended) {
    process_.require_at_return();
    std::unique_lock lock{mutex_};
    if (ended) note_end(*std::move(ended));
    idle_.wait(lock, [this] { return closed_ || may_begin(); });
    if (closed_) return std::nullopt;
    auto timer = begin();
    if (may_begin()) idle_.wake_one();
    return timer;
}

std::optional<FiredTimer> TimerBoard::next_now() {
    process_.require_at_return();
    const std::lock_guard lock{mutex_};
    return may_begin() ? std::optional{begin()} : std::nullopt;
}

FiredTimer TimerBoard::begin() {
    auto timer = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_;
    if (waiting_.size() == refill_) wake_loop();
    return timer;
}

void TimerBoard::end(EndedTimer ended) {
    if (!process_.is_this()) return;
    const std::lock_guard lock{mutex_};
    note_end(std::move(ended));
    if (may_begin()) idle_.wake_one();
}

void TimerBoard::note_end(EndedTimer ended) {
    --running_;
    if (closed_) return;
    places_.front() = std::move(ended);
    ended_.splice(ended_.end(), places_, places_.begin());
    if (!looks_ || waiting_.empty()) wake_loop();
}

}  // namespace routemaster::detail
