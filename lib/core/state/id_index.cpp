#include "core/state/id_index.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace routemaster::detail {
namespace {

auto place_in(const auto& jobs, std::uint64_t id) {
    return std::lower_bound(
        jobs.begin(), jobs.end(), id,
        [](const JobState* job, std::uint64_t wanted) { return job->order < wanted; });
}

}  // namespace

void IdIndex::Block::append(std::span<JobState* const> jobs) {
    jobs_.insert(jobs_.end(), jobs.begin(), jobs.end());
}

void IdIndex::Block::insert(JobState& job) {
    const bool last = jobs_.back()->order < job.order;
    if (!last || jobs_.size() == jobs_.capacity()) close_up();
    jobs_.insert(last ? jobs_.end() : place_in(jobs_, job.order), &job);
}

void IdIndex::Block::remove(const JobState& job) {
    if (jobs().front() == &job) {
        ++gone_;
        return;
    }
    const auto place = place_in(jobs(), job.order) - jobs().begin();
    close_up();
    jobs_.erase(jobs_.begin() + place);
    if (jobs_.size() < jobs_.capacity() / 4) jobs_.shrink_to_fit();
}

std::vector<JobState*> IdIndex::Block::split() {
    close_up();
    const auto middle = jobs_.begin() + static_cast<std::ptrdiff_t>(jobs_.size() / 2);
    std::vector<JobState*> upper{middle, jobs_.end()};
    jobs_.erase(middle, jobs_.end());
    return upper;
}

void IdIndex::Block::close_up() {
    jobs_.erase(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(gone_));
    gone_ = 0;
}

IdIndex::Blocks::const_iterator IdIndex::block_of(std::uint64_t id) const {
    const auto behind = blocks_.upper_bound(id);
    return behind == blocks_.begin() ? behind : std::prev(behind);
}

void IdIndex::insert(JobState& job) {
    const bool last = !blocks_.empty() && blocks_.rbegin()->first < job.order;
    auto behind = last ? blocks_.end() : blocks_.upper_bound(job.order);
    if (behind == blocks_.begin()) {
        if (behind == blocks_.end()) {
            blocks_.emplace(job.order, Block{{&job}});
            return;
        }
        auto first = blocks_.extract(behind);
        first.key() = job.order;
        behind = std::next(blocks_.insert(std::move(first)).position);
    }
    auto& block = std::prev(behind)->second;
    const auto jobs = block.jobs();
    if (jobs.size() < block_max) {
        block.insert(job);
        return;
    }
    // Most new jobs have the greatest id. Then a new block is opened, and the full block stays full
    // instead of being split.
    if (jobs.back()->order < job.order) {
        blocks_.emplace_hint(behind, job.order, Block{{&job}})->second.expect(block_max);
        return;
    }
    auto upper = block.split();
    const auto first = upper.front()->order;
    blocks_.emplace_hint(behind, first, Block{std::move(upper)});
    insert(job);
}

void IdIndex::remove(const JobState& job) {
    const bool first = blocks_.begin()->second.jobs().front() == &job;
    const auto at = first ? blocks_.begin() : std::prev(blocks_.upper_bound(job.order));
    auto& block = at->second;
    block.remove(job);
    const auto left = block.jobs().size();
    if (left == 0) {
        blocks_.erase(at);
        return;
    }
    const auto next = std::next(at);
    if (next != blocks_.end() && left + next->second.jobs().size() <= block_max / 2) {
        block.append(next->second.jobs());
        blocks_.erase(next);
    }
}

JobState* IdIndex::find(std::uint64_t id) const {
    const auto at = block_of(id);
    if (at == blocks_.end()) return nullptr;
    const auto jobs = at->second.jobs();
    const auto place = place_in(jobs, id);
    return place != jobs.end() && (*place)->order == id ? *place : nullptr;
}

}  // namespace routemaster::detail
