#include "ask_redirects.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace routemaster::redis {

namespace {

/// A connection is kept for the next call for so long.
constexpr std::chrono::seconds idle_max{1};

}  // namespace

void AskRedirects::add(const RedisAddress& address, PendingCall pending) {
    auto at = std::find_if(targets_.begin(), targets_.end(),
                           [&](const Target& target) { return target.address == address; });
    if (at == targets_.end()) {
        targets_.push_back({address, nullptr, {}, Instant::min()});
        at = std::prev(targets_.end());
    }
    at->waiting.push_back(std::move(pending));
}

void AskRedirects::watch(PollSet& polled) const {
    for (const auto& target : targets_) {
        if (target.connection) target.connection->watch(polled);
    }
}

void AskRedirects::work(const PollSet& polled, Instant now) {
    for (auto& target : targets_) work(target, polled, now);
    std::erase_if(targets_, [](const Target& target) { return !target.connection; });
}

void AskRedirects::work(Target& target, const PollSet& polled, Instant now) {
    if (!target.connection) {
        target.connection = std::make_unique<CommandConnection>(
            target.address, context_, CommandConnection::Mode::asking, now);
    }
    auto& connection = *target.connection;
    connection.work(polled, now);
    while (!target.waiting.empty() && connection.is_open()) {
        connection.send(std::move(target.waiting.front()), now);
        target.waiting.pop_front();
    }
    connection.flush();
    collect(target);
    const bool is_idle = target.waiting.empty() && connection.is_idle();
    if (!is_idle) target.idle_since = now;
    const bool is_over = connection.state() == CommandConnection::State::lost ||
                         (is_idle && now - target.idle_since >= idle_max);
    if (!is_over) return;
    // What could not be sent there goes back to the first server, which knows more by now.
    std::move(target.waiting.begin(), target.waiting.end(), std::back_inserter(output_.retries));
    target.connection.reset();
}

void AskRedirects::collect(Target& target) {
    auto& output = target.connection->output();
    const auto append = [](auto& from, auto& to) {
        std::move(from.begin(), from.end(), std::back_inserter(to));
    };
    append(output.finished, output_.finished);
    append(output.retries, output_.retries);
    append(output.redirected, output_.redirected);
    output = {};
}

Instant AskRedirects::due() const {
    auto at = no_instant;
    for (const auto& target : targets_) {
        if (!target.connection) return Instant::min();
        at = std::min({at, target.connection->due(), target.idle_since + idle_max});
        if (!target.waiting.empty()) at = std::min(at, target.waiting.front().deadline);
    }
    return at;
}

void AskRedirects::lose(const Error& reason) {
    for (auto& target : targets_) {
        if (target.connection) {
            target.connection->lose(reason);
            collect(target);
        }
        std::move(target.waiting.begin(), target.waiting.end(),
                  std::back_inserter(output_.retries));
    }
    targets_.clear();
}

}  // namespace routemaster::redis
