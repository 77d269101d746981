#include "core/jobs/work/pool/job_board.hpp"

#include <algorithm>

namespace routemaster::detail {

void JobBoard::wake_with(std::function<void()> wake) {
    const std::lock_guard lock{mutex_};
    wake_ = std::move(wake);
    woken_ = false;
}

void JobBoard::wake_loop() {
    if (std::exchange(woken_, true) || !wake_) return;
    wake_();
}

void JobBoard::offer(std::vector<AttemptPtr>& fresh) {
    if (fresh.empty()) return;
    const std::lock_guard lock{mutex_};
    for (auto& attempt : fresh) {
        ended_places_.emplace_back();
        if (attempt->timeout > Duration{0}) begun_places_.emplace_back();
        waiting_[strict_ ? attempt->queue : 0].push_back(std::move(attempt));
    }
    count_ += fresh.size();
    refill_ = count_ / 2;
    fresh.clear();
    if (may_begin()) idle_.wake_one();
}

JobBoard::Report JobBoard::take() {
    const std::lock_guard lock{mutex_};
    woken_ = false;
    return {std::exchange(ended_, {}), std::exchange(begun_, {}), count_, running_};
}

std::vector<AttemptPtr> JobBoard::withdraw(TimePoint since) {
    const std::lock_guard lock{mutex_};
    std::vector<AttemptPtr> taken;
    for (auto& queue : waiting_) {
        while (!queue.empty() && (since == never || queue.front()->acquired_at < since)) {
            taken.push_back(std::move(queue.front()));
            queue.pop_front();
            ended_places_.pop_front();
            if (taken.back()->timeout > Duration{0}) begun_places_.pop_front();
        }
    }
    count_ -= taken.size();
    return taken;
}

void JobBoard::close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    idle_.wake_all();
}

std::size_t JobBoard::running() const {
    const std::lock_guard lock{mutex_};
    return running_;
}

std::size_t JobBoard::waiting() const {
    const std::lock_guard lock{mutex_};
    return count_;
}

AttemptPtr JobBoard::next() {
    process_.require_at_return();
    std::unique_lock lock{mutex_};
    idle_.wait(lock, [this] { return closed_ || may_begin(); });
    if (closed_) return nullptr;
    auto attempt = begin();
    if (may_begin()) idle_.wake_one();
    return attempt;
}

AttemptPtr JobBoard::next_now() {
    process_.require_at_return();
    const std::lock_guard lock{mutex_};
    return may_begin() ? begin() : nullptr;
}

AttemptPtr JobBoard::begin() {
    const auto queue = std::find_if(waiting_.begin(), waiting_.end(),
                                    [](const auto& any) { return !any.empty(); });
    auto attempt = std::move(queue->front());
    queue->pop_front();
    --count_;
    ++running_;
    if (attempt->timeout > Duration{0}) {
        begun_places_.front() = attempt;
        begun_.splice(begun_.end(), begun_places_, begun_places_.begin());
        // While jobs wait, the loop polls often enough and need not be woken.
        if (count_ == 0) wake_loop();
    }
    if (count_ == refill_) wake_loop();
    return attempt;
}

void JobBoard::end(AttemptPtr attempt, JobVerdict verdict) {
    if (!process_.is_this()) return;
    const std::lock_guard lock{mutex_};
    --running_;
    ended_places_.front() = {std::move(attempt), std::move(verdict)};
    ended_.splice(ended_.end(), ended_places_, ended_places_.begin());
    if (count_ == 0) wake_loop();
    if (may_begin()) idle_.wake_one();
}

}  // namespace routemaster::detail
