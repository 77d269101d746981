/// @file
/// `Publisher`: the handle of one publisher of a bus.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

class Bus;
struct PublishEvent;

/// Settings of a `Publisher`.
struct PublisherOptions {
    std::uint32_t topics_max = UINT32_MAX;  ///< Topics that the publisher may own.
    /// Whether the store publishes only if the token is valid at that moment; see `ApiTokens`. The
    /// check and the publication are one step, so they take one trip to the store.
    bool authenticate = false;
};

/// One publisher, by its token; it claims the topics that it publishes in. Made by
/// `Bus::publisher`, for programs that publish on behalf of many; a program with one publisher sets
/// `BusOptions::publisher` instead.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread. The bus must outlive it.
class Publisher {
public:
    /// Its token.
    [[nodiscard]] const std::string& token() const noexcept { return token_; }

    /// Publishes an event, as `Bus::publish` does. `unauthenticated` when `authenticate` is set and
    /// the token is not valid; `limit_exceeded` when the publisher owns `topics_max` topics
    /// already. Mistakes in the event itself are reported without asking the store.
    Result<void> publish(const Event& event) const;
    void publish(const Event& event, std::function<void(Result<void>)> done) const;

    /// Forgets a topic and its subscriptions. `forbidden` unless it belongs to this publisher.
    Result<Removal> remove_topic(std::string name) const;
    void remove_topic(std::string name, std::function<void(Result<Removal>)> done) const;

private:
    friend class Bus;
    Publisher(Bus& bus, std::string token, PublisherOptions options);

    [[nodiscard]] Result<PublishEvent> step(const Event& event, TimePoint now) const;

    Bus* bus_;
    std::string token_;
    PublisherOptions options_;
};

}  // namespace routemaster
