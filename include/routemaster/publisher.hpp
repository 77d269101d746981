/// @file
/// `Publisher`: a handle for one publisher of a bus.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

class Bus;
struct PublishEvent;

/// Settings of a `Publisher`.
struct PublisherOptions {
    std::uint32_t topics_max = UINT32_MAX;  ///< Maximum number of the publisher's topics.
    /// Whether the store publishes only while the token is valid; see `ApiTokens`. The check and
    /// the publication are one step, so the check costs no additional round trip to the store.
    bool authenticate = false;
};

/// Handle that publishes events as the publisher with a given token. The publisher claims each
/// topic that it publishes to. Created by `Bus::publisher`, for programs that publish on behalf of
/// several publishers. A program with one publisher sets `BusOptions::publisher` instead.
///
/// As in `Bus`, every call exists in two forms: the first blocks, the second calls `done`.
///
/// Thread safety: all members may be called from any thread. The bus must outlive the publisher.
class Publisher {
public:
    /// The token of the publisher.
    [[nodiscard]] const std::string& token() const noexcept { return token_; }

    /// Publishes an event, as `Bus::publish` does. `unauthenticated` if `authenticate` is set and
    /// the token is not valid. `limit_exceeded` if the topic is unclaimed, and the publisher
    /// already owns `topics_max` topics. A malformed event is rejected without a call to the
    /// store.
    Result<void> publish(const Event& event) const;
    void publish(const Event& event, std::function<void(Result<void>)> done) const;

    /// Removes a topic and its subscriptions. `forbidden` unless the topic belongs to this
    /// publisher.
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
