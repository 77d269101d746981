/// @file
/// `Subscriber`: the handle of one subscriber of a bus.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/callbacks.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/time.hpp"
#include "routemaster/url.hpp"

namespace routemaster {

/// Settings of a subscription to a callback in the process; see `SubscribeOptions`.
struct LocalSubscribeOptions {
    Duration timeout{0};  ///< How long a batch may wait for more events. A call costs little.
    std::optional<std::uint32_t> max_events{};
    std::optional<std::uint32_t> max_in_flight{};
};

/// One subscriber, by its token; it need not exist yet. Got from `Bus::subscriber`. Cheap to copy.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread. The bus must outlive it.
class Subscriber {
public:
    /// Use `Bus::subscriber`.
    Subscriber(Store& store, const Clock& clock, Callbacks& callbacks, std::string token)
        : store_{&store}, clock_{&clock}, callbacks_{&callbacks}, token_{std::move(token)} {}

    [[nodiscard]] const std::string& token() const noexcept { return token_; }

    /// Creates or changes the subscriber: from now on it gets the events of exactly these topics.
    /// See `Subscribe` for what is kept. `invalid`, naming the field, when something is wrong.
    Result<void> subscribe(std::vector<std::string> topics, SubscribeOptions options) {
        auto step = checked(std::move(topics), std::move(options));
        if (!step) return step.error();
        return put(*std::move(step));
    }
    void subscribe(std::vector<std::string> topics, SubscribeOptions options,
                   std::function<void(Result<void>)> done) {
        auto step = checked(std::move(topics), std::move(options));
        if (!step) return done(step.error());
        put(*std::move(step), std::move(done));
    }

    /// The same for a callback in this process, which a dispatcher with a `LocalTransport` calls.
    /// The callback is known before the first batch can come. The subscription outlives the
    /// process, the callback does not: call this again after a restart.
    template <HandlesBatches Handler>
    Result<void> subscribe(std::vector<std::string> topics, Handler handler,
                           LocalSubscribeOptions options = {}) {
        auto step = checked(std::move(topics), local(options));
        if (!step) return step.error();
        callbacks_->set(token_, std::move(handler));
        return put(*std::move(step));
    }
    template <HandlesBatches Handler>
    void subscribe(std::vector<std::string> topics, Handler handler, LocalSubscribeOptions options,
                   std::function<void(Result<void>)> done) {
        auto step = checked(std::move(topics), local(options));
        if (!step) return done(step.error());
        callbacks_->set(token_, std::move(handler));
        put(*std::move(step), std::move(done));
    }

    /// Ends the subscription to one topic. Events that are queued already still come.
    Result<Unsubscription> unsubscribe(std::string topic) {
        return perform(*store_, Unsubscribe{token_, std::move(topic)}, clock_->now());
    }
    void unsubscribe(std::string topic, std::function<void(Result<Unsubscription>)> done) {
        submit(*store_, Unsubscribe{token_, std::move(topic)}, clock_->now(), std::move(done));
    }

    /// Forgets the subscriber, its subscriptions and its callback in the process. What is queued
    /// for it ends undelivered.
    Result<Removal> remove() {
        callbacks_->remove(token_);
        return perform(*store_, RemoveSubscriber{token_}, clock_->now());
    }
    void remove(std::function<void(Result<Removal>)> done) {
        callbacks_->remove(token_);
        submit(*store_, RemoveSubscriber{token_}, clock_->now(), std::move(done));
    }

    /// Its settings, topics, gauges and health; nothing when it does not exist.
    [[nodiscard]] Result<std::optional<SubscriberStatus>> status() const {
        return perform(*store_, FindSubscriber{token_}, clock_->now());
    }
    void status(std::function<void(Result<std::optional<SubscriberStatus>>)> done) const {
        submit(*store_, FindSubscriber{token_}, clock_->now(), std::move(done));
    }

private:
    [[nodiscard]] Result<Subscribe> checked(std::vector<std::string> topics,
                                            SubscribeOptions options) const {
        if (!options.callback.starts_with(local_scheme)) {
            if (auto url = check_url(options.callback, "callback", UrlRule::http); !url) {
                return url.error();
            }
        }
        if (auto rest = check(token_, topics, options); !rest) return rest.error();
        return Subscribe{token_, std::move(topics), std::move(options)};
    }

    Result<void> put(Subscribe step) {
        return without_value(perform(*store_, std::move(step), clock_->now()));
    }
    void put(Subscribe step, std::function<void(Result<void>)> done) {
        submit(*store_, std::move(step), clock_->now(),
               [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
    }

    [[nodiscard]] SubscribeOptions local(const LocalSubscribeOptions& options) const {
        return {.callback = std::string{local_scheme} + token_,
                .timeout = options.timeout,
                .max_events = options.max_events,
                .max_in_flight = options.max_in_flight};
    }

    Store* store_;
    const Clock* clock_;
    Callbacks* callbacks_;
    std::string token_;
};

}  // namespace routemaster
