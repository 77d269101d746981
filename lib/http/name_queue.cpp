#include "name_queue.hpp"

#include <utility>

namespace routemaster::detail {

void NameQueue::push(const std::string& name, PostRequest request) {
    all_.push_back({name, Clock::now(), std::move(request)});
    places_[name].push_back(std::prev(all_.end()));
}

std::vector<PostRequest> NameQueue::take(const std::string& name) {
    std::vector<PostRequest> taken;
    const auto found = places_.find(name);
    if (found == places_.end()) return taken;
    const auto now = Clock::now();
    for (const Place place : found->second) {
        taken.push_back(std::move(place->request));
        taken.back().has_waited = std::chrono::floor<Duration>(now - place->since);
        all_.erase(place);
    }
    places_.erase(found);
    return taken;
}

std::optional<std::pair<std::string, PostRequest>> NameQueue::take_overdue() {
    if (all_.empty() || Clock::now() < all_.front().since + timeout_) return std::nullopt;
    std::pair taken{std::move(all_.front().name), std::move(all_.front().request)};
    const auto found = places_.find(taken.first);
    found->second.pop_front();
    if (found->second.empty()) places_.erase(found);
    all_.pop_front();
    return taken;
}

std::optional<NameQueue::Clock::time_point> NameQueue::due() const {
    if (all_.empty()) return std::nullopt;
    return all_.front().since + timeout_;
}

std::vector<PostRequest> NameQueue::take_all() {
    std::vector<PostRequest> taken;
    for (auto& each : all_) taken.push_back(std::move(each.request));
    all_.clear();
    places_.clear();
    return taken;
}

}  // namespace routemaster::detail
