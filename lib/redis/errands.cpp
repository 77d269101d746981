#include "errands.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace routemaster::redis {

namespace {

/// A connection is kept for the next call for so long.
constexpr std::chrono::seconds kept{1};

}  // namespace

void Errands::add(const RedisAddress& address, Pending pending) {
    auto at = std::find_if(errands_.begin(), errands_.end(),
                           [&](const Errand& errand) { return errand.address == address; });
    if (at == errands_.end()) {
        errands_.push_back({address, nullptr, {}, Instant::min()});
        at = std::prev(errands_.end());
    }
    at->waiting.push_back(std::move(pending));
}

void Errands::watch(PollSet& polled) const {
    for (const auto& errand : errands_) {
        if (errand.carrier) errand.carrier->watch(polled);
    }
}

void Errands::work(const PollSet& polled, Instant now) {
    for (auto& errand : errands_) work(errand, polled, now);
    std::erase_if(errands_, [](const Errand& errand) { return !errand.carrier; });
}

void Errands::work(Errand& errand, const PollSet& polled, Instant now) {
    if (!errand.carrier) {
        errand.carrier =
            std::make_unique<Carrier>(errand.address, context_, Carrier::Manner::asking, now);
    }
    auto& carrier = *errand.carrier;
    carrier.work(polled, now);
    while (!errand.waiting.empty() && carrier.is_open()) {
        carrier.send(std::move(errand.waiting.front()), now);
        errand.waiting.pop_front();
    }
    carrier.flush();
    collect(errand);
    const bool is_idle = errand.waiting.empty() && carrier.is_idle();
    if (!is_idle) errand.idle_since = now;
    const bool is_over =
        carrier.state() == Carrier::State::lost || (is_idle && now - errand.idle_since >= kept);
    if (!is_over) return;
    // What could not be brought there goes back to the first server, which knows more by now.
    std::move(errand.waiting.begin(), errand.waiting.end(), std::back_inserter(yield_.again));
    errand.carrier.reset();
}

void Errands::collect(Errand& errand) {
    auto& yield = errand.carrier->yield();
    std::move(yield.answers.begin(), yield.answers.end(), std::back_inserter(yield_.answers));
    std::move(yield.again.begin(), yield.again.end(), std::back_inserter(yield_.again));
    std::move(yield.asked.begin(), yield.asked.end(), std::back_inserter(yield_.asked));
    yield = {};
}

Instant Errands::due() const {
    auto at = no_instant;
    for (const auto& errand : errands_) {
        if (!errand.carrier) return Instant::min();
        at = std::min({at, errand.carrier->due(), errand.idle_since + kept});
        if (!errand.waiting.empty()) at = std::min(at, errand.waiting.front().deadline);
    }
    return at;
}

void Errands::lose(const Error& reason) {
    for (auto& errand : errands_) {
        if (errand.carrier) {
            errand.carrier->lose(reason);
            collect(errand);
        }
        std::move(errand.waiting.begin(), errand.waiting.end(), std::back_inserter(yield_.again));
    }
    errands_.clear();
}

}  // namespace routemaster::redis
