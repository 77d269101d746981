#include "core/work/dispatcher/impl.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace routemaster {

void Dispatcher::Impl::acquire() {
    const auto free =
        options_.in_flight_max - std::min<std::size_t>(options_.in_flight_max, flights_.size());
    const bool woken = woken_ && now_ >= rested_at_;
    if (acquiring_ || free == 0 || (now_ < next_acquire_ && !woken)) return;
    only_woken_ = now_ < next_acquire_;
    wanted_ = true;
}

void Dispatcher::Impl::post_acquire() {
    const auto free = options_.in_flight_max - flights_.size();
    acquiring_ = true;
    woken_ = false;
    if (!asked_at_) asked_at_ = now_;
    const auto limit = static_cast<std::uint32_t>(std::min<std::size_t>(free, acquired_max));
    submit(store_, AcquireJobs{delivery_queue, worker_, limit, newest_fence_}, now_,
           [event_queue = events_](Result<Acquired> reply) {
               event_queue->put(GotJobs{std::move(reply)});
           });
}

void Dispatcher::Impl::on(GotJobs& got) {
    acquiring_ = false;
    if (!got.acquired) {
        next_acquire_ = now_ + refusal_backoff(acquire_refusals_++);
        acquire_refusal_ = message(got.acquired);
        if (acquire_refusals_ == 1) warn("cannot acquire jobs: " + acquire_refusal_);
        return;
    }
    acquire_refusals_ = 0;
    asked_at_.reset();
    // Woken in vain: another worker was faster, or what woke us we had seen ourselves. Where many
    // workers share a queue, each job wakes all of them, and those who are hardly ever the first
    // need not come each time.
    if (!only_woken_ || !got.acquired->leases.empty() || got.acquired->next_due < next_due_) {
        woken_in_vain_ = 0;
    } else if (++woken_in_vain_ >= woken_in_vain_max) {
        rested_at_ = now_ + options_.wake_grace;
    }
    next_due_ = got.acquired->next_due;
    next_acquire_ = std::min(next_due_, now_ + options_.poll_interval);
    for (auto& lease : got.acquired->leases) {
        if (over()) {
            store_step(NackJob{std::move(lease), now_});
            continue;
        }
        const auto id = ++last_id_;
        newest_fence_ = std::max(newest_fence_, lease.fence);
        flights_.emplace(id, Flight{.lease = std::move(lease)});
        begin(id);
    }
    count_flights();
}

}  // namespace routemaster
