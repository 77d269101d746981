#include "search.hpp"

#include <chrono>
#include <utility>

namespace routemaster::redis {

namespace {

/// A connection that stood for so long was no accident: the next search does not hesitate.
constexpr std::chrono::seconds stable_after{2};

/// Servers that send us on to one another do so a few times without a pause.
constexpr int moves_max = 5;

constexpr std::size_t logged_max = 100;

}  // namespace

Search::Search(LinkContext& context, std::uint64_t seed)
    : context_{context}, itinerary_{context.options.addresses}, backoff_{seed} {}

bool Search::has_sentinels() const { return !context_.options.sentinel_master.empty(); }

void Search::begin(const Carrier& lost, Instant now) {
    searching_ = true;
    under_way_ = false;
    obstacle_ = {lost.reason().code(),
                 "redis " + to_text(lost.address()) + ": " + lost.reason().context()};
    first_.clear();
    const auto& elsewhere = lost.elsewhere();
    if (!has_sentinels()) {
        if (elsewhere) first_.push_back(*elsewhere);
        first_.push_back(lost.address());
    }
    pause_until_ = now;
    if (now - found_at_ >= stable_after) {
        backoff_.reset();
        moves_ = 0;
    } else if (!elsewhere || ++moves_ > moves_max) {
        pause_until_ += backoff_.next();
    }
}

std::unique_ptr<Carrier> Search::work(const PollSet& polled, Instant now) {
    if (!searching_) return nullptr;
    if (!under_way_) {
        if (now < pause_until_) return nullptr;
        begin_round();
        try_next(now);
    }
    if (inquiry_) {
        const auto answer = inquiry_->work(polled, now);
        if (!answer) return nullptr;
        const auto asked = std::move(inquiry_);
        if (!*answer) {
            failed(asked->sentinel(), answer->error(), now);
        } else {
            itinerary_.prefer(asked->sentinel());
            candidate_ = std::make_unique<Carrier>(**answer, context_, Carrier::Manner::plain, now);
        }
    }
    if (!candidate_) return nullptr;
    candidate_->work(polled, now);
    switch (candidate_->state()) {
        case Carrier::State::connecting: return nullptr;
        case Carrier::State::ready: return found(now);
        case Carrier::State::leaving:
        case Carrier::State::lost: break;
    }
    const auto refused = std::move(candidate_);
    // A replica's word for where its master is counts less than that of the sentinels.
    if (refused->elsewhere() && !has_sentinels()) itinerary_.suggest(*refused->elsewhere());
    failed(refused->address(), refused->reason(), now);
    return nullptr;
}

void Search::begin_round() {
    under_way_ = true;
    all_invalid_ = true;
    itinerary_.begin(first_);
}

void Search::try_next(Instant now) {
    const auto address = itinerary_.next();
    if (!address) {
        under_way_ = false;
        hopeless_ = all_invalid_;
        pause_until_ = now + backoff_.next();
        return;
    }
    if (has_sentinels()) {
        inquiry_ = std::make_unique<SentinelInquiry>(*address, context_, now);
    } else {
        candidate_ = std::make_unique<Carrier>(*address, context_, Carrier::Manner::plain, now);
    }
}

void Search::failed(const RedisAddress& address, const Error& reason, Instant now) {
    obstacle_ = {reason.code(), "redis " + to_text(address) + ": " + reason.context()};
    if (reason.code() != Errc::invalid) all_invalid_ = false;
    const auto line = to_text(address) + ": " + reason.context();
    if (logged_.size() < logged_max && logged_.insert(line).second) {
        context_.log(LogLevel::warning, line);
    }
    try_next(now);
}

std::unique_ptr<Carrier> Search::found(Instant now) {
    searching_ = false;
    under_way_ = false;
    found_at_ = now;
    hopeless_ = false;
    logged_.clear();
    return std::move(candidate_);
}

void Search::watch(PollSet& polled) const {
    if (inquiry_) inquiry_->watch(polled);
    if (candidate_) candidate_->watch(polled);
}

Instant Search::due() const {
    if (!searching_) return no_instant;
    if (inquiry_) return inquiry_->due();
    if (candidate_) return candidate_->due();
    return pause_until_;
}

}  // namespace routemaster::redis
