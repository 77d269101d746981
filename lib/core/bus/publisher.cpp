#include "routemaster/publisher.hpp"

#include <utility>

#include "routemaster/bus.hpp"
#include "routemaster/store/perform.hpp"

namespace routemaster {

Publisher::Publisher(Bus& bus, std::string token, PublisherOptions options)
    : bus_{&bus}, token_{std::move(token)}, options_{options} {}

Result<PublishEvent> Publisher::step(const Event& event, TimePoint now) const {
    bus_->callbacks_.published(now);
    const auto& options = bus_->options_;
    auto made =
        publication(event, options.rules, token_, options.event_data_max, bus_->uids_.next(), now);
    if (made) {
        made->topics_max = options_.topics_max;
        made->authenticate = options_.authenticate;
    }
    return made;
}

Result<void> Publisher::publish(const Event& event) const {
    const auto now = bus_->clock_.now();
    auto made = step(event, now);
    if (!made) return made.error();
    return without_value(perform(bus_->store_, *std::move(made), now));
}

void Publisher::publish(const Event& event, std::function<void(Result<void>)> done) const {
    const auto now = bus_->clock_.now();
    auto made = step(event, now);
    if (!made) return done(made.error());
    submit(bus_->store_, *std::move(made), now,
           [done = std::move(done)](const Result<Done>& reply) { done(without_value(reply)); });
}

Result<Removal> Publisher::remove_topic(std::string name) const {
    return perform(bus_->store_, RemoveTopic{std::move(name), token_}, bus_->clock_.now());
}

void Publisher::remove_topic(std::string name, std::function<void(Result<Removal>)> done) const {
    submit(bus_->store_, RemoveTopic{std::move(name), token_}, bus_->clock_.now(), std::move(done));
}

}  // namespace routemaster
