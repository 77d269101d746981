#include "connector.hpp"

#include <chrono>
#include <utility>

namespace routemaster::redis {

namespace {

/// If the lost connection lasted at least this long, reconnecting begins without a delay.
constexpr std::chrono::seconds stable_after{2};

/// How many redirects in quick succession are followed without a delay.
constexpr int redirects_in_a_row_max = 5;

constexpr std::size_t logged_max = 100;

}  // namespace

Connector::Connector(LinkContext& context, std::uint64_t seed)
    : context_{context}, rotation_{context.options.addresses}, backoff_{seed} {}

bool Connector::has_sentinels() const { return !context_.options.sentinel_master.empty(); }

void Connector::begin(const CommandConnection& lost, Instant now) {
    connecting_ = true;
    in_round_ = false;
    last_error_ = {lost.reason().code(),
                   "redis " + to_text(lost.address()) + ": " + lost.reason().context()};
    first_.clear();
    const auto& redirect = lost.redirect();
    if (!has_sentinels()) {
        if (redirect) first_.push_back(*redirect);
        first_.push_back(lost.address());
    }
    pause_until_ = now;
    if (now - connected_at_ >= stable_after) {
        backoff_.reset();
        redirects_in_a_row_ = 0;
    } else if (!redirect || ++redirects_in_a_row_ > redirects_in_a_row_max) {
        pause_until_ += backoff_.next();
    }
}

std::unique_ptr<CommandConnection> Connector::work(const PollSet& polled, Instant now) {
    if (!connecting_) return nullptr;
    if (!in_round_) {
        if (now < pause_until_) return nullptr;
        begin_round();
        try_next(now);
    }
    if (inquiry_) {
        const auto master = inquiry_->work(polled, now);
        if (!master) return nullptr;
        const auto inquiry = std::move(inquiry_);
        if (!*master) {
            failed(inquiry->sentinel(), master->error(), now);
        } else {
            rotation_.prefer(inquiry->sentinel());
            try_address(**master, now);
        }
    }
    if (!candidate_) return nullptr;
    candidate_->work(polled, now);
    switch (candidate_->state()) {
        case CommandConnection::State::connecting: return nullptr;
        case CommandConnection::State::ready: return connected(now);
        case CommandConnection::State::draining:
        case CommandConnection::State::lost: break;
    }
    const auto refused = std::move(candidate_);
    // Next, tries the master that the replica named, unless there are sentinels. What sentinels say
    // takes precedence.
    if (refused->redirect() && !has_sentinels()) rotation_.suggest(*refused->redirect());
    failed(refused->address(), refused->reason(), now);
    return nullptr;
}

void Connector::begin_round() {
    in_round_ = true;
    all_invalid_ = true;
    rotation_.begin(first_);
}

void Connector::try_next(Instant now) {
    const auto address = rotation_.next();
    if (!address) {
        in_round_ = false;
        permanent_failure_ = all_invalid_;
        pause_until_ = now + backoff_.next();
        return;
    }
    if (has_sentinels()) {
        inquiry_ = std::make_unique<SentinelInquiry>(*address, context_, now);
    } else {
        try_address(*address, now);
    }
}

void Connector::try_address(const RedisAddress& address, Instant now) {
    candidate_ = std::make_unique<CommandConnection>(address, context_, now);
}

void Connector::failed(const RedisAddress& address, const Error& reason, Instant now) {
    last_error_ = {reason.code(), "redis " + to_text(address) + ": " + reason.context()};
    if (reason.code() != Errc::invalid) all_invalid_ = false;
    const auto line = to_text(address) + ": " + reason.context();
    if (logged_.size() < logged_max && logged_.insert(line).second) {
        context_.log(LogLevel::warning, line);
    }
    try_next(now);
}

std::unique_ptr<CommandConnection> Connector::connected(Instant now) {
    connecting_ = false;
    in_round_ = false;
    connected_at_ = now;
    permanent_failure_ = false;
    logged_.clear();
    return std::move(candidate_);
}

void Connector::watch(PollSet& polled) const {
    if (inquiry_) inquiry_->watch(polled);
    if (candidate_) candidate_->watch(polled);
}

Instant Connector::due() const {
    if (!connecting_) return no_instant;
    if (inquiry_) return inquiry_->due();
    if (candidate_) return candidate_->due();
    return pause_until_;
}

}  // namespace routemaster::redis
