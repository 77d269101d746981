#include "core/state/id_index.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace routemaster::detail {
namespace {

auto place_in(auto& block, std::uint64_t id) {
    return std::lower_bound(
        block.begin(), block.end(), id,
        [](const JobState* job, std::uint64_t wanted) { return job->order < wanted; });
}

}  // namespace

IdIndex::Blocks::const_iterator IdIndex::block_of(std::uint64_t id) const {
    const auto behind = blocks_.upper_bound(id);
    return behind == blocks_.begin() ? behind : std::prev(behind);
}

void IdIndex::insert(JobState& job) {
    auto behind = blocks_.upper_bound(job.order);
    if (behind == blocks_.begin()) {
        if (behind == blocks_.end()) {
            blocks_[job.order].push_back(&job);
            return;
        }
        auto first = blocks_.extract(behind);
        first.key() = job.order;
        behind = std::next(blocks_.insert(std::move(first)).position);
    }
    auto& block = std::prev(behind)->second;
    if (block.size() < block_max) {
        block.insert(place_in(block, job.order), &job);
        return;
    }
    // Most jobs come last: then the full block stays full.
    if (block.back()->order < job.order) {
        blocks_.emplace_hint(behind, job.order, Block{&job});
        return;
    }
    const auto middle = block.begin() + block_max / 2;
    Block upper{middle, block.end()};
    block.erase(middle, block.end());
    const auto first = upper.front()->order;
    blocks_.emplace_hint(behind, first, std::move(upper));
    insert(job);
}

void IdIndex::remove(const JobState& job) {
    const auto at = std::prev(blocks_.upper_bound(job.order));
    auto& block = at->second;
    block.erase(place_in(block, job.order));
    if (block.empty()) {
        blocks_.erase(at);
        return;
    }
    const auto next = std::next(at);
    if (next != blocks_.end() && block.size() + next->second.size() <= block_max / 2) {
        block.insert(block.end(), next->second.begin(), next->second.end());
        blocks_.erase(next);
    } else if (block.size() < block.capacity() / 4) {
        block.shrink_to_fit();
    }
}

JobState* IdIndex::find(std::uint64_t id) const {
    const auto at = block_of(id);
    if (at == blocks_.end()) return nullptr;
    const auto place = place_in(at->second, id);
    return place != at->second.end() && (*place)->order == id ? *place : nullptr;
}

}  // namespace routemaster::detail
