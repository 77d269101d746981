/// @file
/// `RedisScene`: a store on a server, with helpers for steps and for commands of other programs.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/store/delivery_job.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/redis.hpp"
#include "support/redis_keys.hpp"
#include "support/redis_server.hpp"

namespace routemaster::test {

struct RedisScene {
    explicit RedisScene(bool mixed_fleet = false)
        : store{{.addresses = {server.address()}, .mixed_fleet = mixed_fleet}} {}

    RedisServer server;
    RedisStore store;
    TimePoint now = from_milliseconds(1'795'222'853'691);
    Uid worker = *Uid::parse("WORKERWORKERWORKER00");

    template <class S>
    Result<typename S::Reply> try_to(S step) {
        return routemaster::perform(store, std::move(step), now);
    }
    template <class S>
    typename S::Reply perform(S step) {
        return try_to(std::move(step)).value();
    }

    /// Subscribes to `cats`. Two events fill a batch.
    void subscribe() {
        perform(Subscribe{.token = "billing",
                          .topics = {"cats"},
                          .options = {.callback = "https://billing.example/events",
                                      .uuid = "demo",
                                      .timeout = Duration{500},
                                      .max_events = 2}});
    }

    /// Ruby Routemaster's message for an event in `cats`.
    [[nodiscard]] std::string message() const {
        return encode_message(
            {.topic = "cats", .type = EventType::create, .url = "https://example.com/cats/1"}, now);
    }

    void publish(const std::string& uid = "BATCHBATCHBATCHBAAAA") {
        perform(PublishEvent{.topic = "cats",
                             .publisher = "pub--secret",
                             .message = message(),
                             .timestamp = now,
                             .uid = *Uid::parse(uid)});
    }

    [[nodiscard]] static std::string job(const std::string& uid) {
        return detail::delivery_job(*Uid::parse(uid));
    }

    std::vector<Lease> acquire_all() {
        return perform(AcquireJobs{.queue = "main", .worker = worker, .limit = 100}).leases;
    }
    Lease acquire() { return acquire_all().at(0); }
    std::vector<Lease> acquire_for(std::vector<std::string> destinations) {
        return perform(AcquireJobs{.queue = "main",
                                   .worker = worker,
                                   .limit = 10,
                                   .destinations = std::move(destinations)})
            .leases;
    }

    /// Whether a job exists where Ruby workers look for jobs.
    bool ruby_sees_jobs() {
        for (const std::string& key :
             {std::string{"jobs:scheduled:main"}, std::string{"jobs:instant:main"},
              "jobs:pending:main:" + std::string{worker.text()}}) {
            if (other({"EXISTS", key}).number == 1) return true;
        }
        return false;
    }

    DeliveryStart begin(const Lease& lease) {
        return perform(BeginDelivery{lease, Duration{60'000}, 0});
    }
    Settlement settle(const Lease& lease, bool delivered = true) {
        return perform(SettleDelivery{.lease = lease,
                                      .delivered = delivered,
                                      .health_change = delivered ? 1 : -2,
                                      .begun_at = now,
                                      .retry_at = now + Duration{100},
                                      .error = delivered ? "" : "status 503"});
    }

    /// Sends a command as another program.
    RedisReply other(const std::vector<std::string>& command) { return server.command(command); }

    [[nodiscard]] std::string keys() const { return keys_of(server).text(); }
};

}  // namespace routemaster::test
