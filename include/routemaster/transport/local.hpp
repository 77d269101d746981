/// @file
/// Delivers batches to callbacks in this process.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/callbacks.hpp"
#include "routemaster/reject.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Settings of a `LocalTransport`.
struct LocalTransportOptions {
    /// Callbacks that run at once. Those of one subscriber do so only if its `max_in_flight` allows
    /// it. 0: callbacks run inside `deliver`, on the thread that polls the dispatcher. With a
    /// manual clock that makes a test of a handler deterministic.
    std::size_t threads = 1;
};

/// Calls the callback that a `local:` subscriber has in this process. A callback that returns
/// succeeds, one that throws fails, for good if it throws `Reject`. Without a callback the delivery
/// fails too, so batches wait until the program registers one.
///
/// Thread safety: all members may be called from any thread. Callbacks run on threads of the
/// transport, if it has any.
class LocalTransport final : public Transport {
public:
    /// `callbacks` must outlive it.
    explicit LocalTransport(Callbacks& callbacks, LocalTransportOptions options = {});

    /// Waits for running callbacks; cancels those that have not begun.
    ~LocalTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    /// The callbacks that are named in this process now.
    [[nodiscard]] std::vector<std::string> destinations() const override;
    void attach() override;
    void deliver(Delivery delivery, DeliveryDone done) override;

    /// A callback that has begun cannot be withdrawn.
    [[nodiscard]] bool withdraw(const Uid& batch) override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
