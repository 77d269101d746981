#include "core/jobs/state/throughput.hpp"

#include <algorithm>

namespace routemaster::detail {
namespace {

constexpr Duration minute{60'000};
constexpr Duration hour{3'600'000};
constexpr std::int64_t minutes_kept = 60;
constexpr std::int64_t hours_kept = 24;

std::int64_t number_of(TimePoint at, Duration span) {
    const auto since_epoch = to_milliseconds(at);
    const auto size = span.count();
    return since_epoch / size - (since_epoch % size < 0 ? 1 : 0);
}

}  // namespace

void Throughput::count(Number number, TimePoint now) {
    if (now < minute_begin_ || now >= minute_begin_ + minute) move_to(now);
    ++(in_minute_->*number);
    ++(in_hour_->*number);
}

void Throughput::move_to(TimePoint now) {
    const auto place_in = [](Counts& counts, std::int64_t place, std::int64_t kept) {
        auto& found = counts[place];
        while (counts.begin()->first <= place - kept) counts.erase(counts.begin());
        return &found;
    };
    const auto minute_now = number_of(now, minute);
    minute_begin_ = from_milliseconds(minute_now * minute.count());
    in_minute_ = place_in(minutes_, minute_now, minutes_kept);
    in_hour_ = place_in(hours_, number_of(now, hour), hours_kept);
}

std::vector<QueueCountsAt> Throughput::list(const Counts& counts, std::int64_t last,
                                            std::int64_t most, Duration span) {
    std::vector<QueueCountsAt> all;
    const auto end = counts.upper_bound(last);
    for (auto at = counts.upper_bound(last - most); at != end; ++at) {
        all.push_back({from_milliseconds(at->first * span.count()), at->second});
    }
    return all;
}

QueueThroughput Throughput::at(TimePoint now) const {
    return {list(minutes_, number_of(now, minute), minutes_kept, minute),
            list(hours_, number_of(now, hour), hours_kept, hour)};
}

bool Throughput::is_over(TimePoint now) const {
    return hours_.empty() || hours_.rbegin()->first <= number_of(now, hour) - hours_kept;
}

void ThroughputTable::count(const std::string& queue, Throughput::Number number, TimePoint now) {
    if (last_ == queues_.end() || last_->first != queue) {
        last_ = queues_.find(queue);
        if (last_ == queues_.end()) {
            forget_old(now);
            last_ = queues_.try_emplace(queue).first;
        }
    }
    last_->second.count(number, now);
}

QueueThroughput ThroughputTable::at(const std::string& queue, TimePoint now) const {
    const auto found = queues_.find(queue);
    return found == queues_.end() ? QueueThroughput{} : found->second.at(now);
}

void ThroughputTable::forget_old(TimePoint now) {
    // Removes outdated entries at most once an hour, because it examines all queues.
    if (now < forgot_at_ + hour && now >= forgot_at_) return;
    forgot_at_ = now;
    std::erase_if(queues_, [&](const auto& entry) { return entry.second.is_over(now); });
}

}  // namespace routemaster::detail
