/// @file
/// `LocalTransport`: delivers batches to callbacks in this process.

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
    /// How many callbacks run at once. Callbacks of one subscriber run at once only if its
    /// `max_in_flight` allows it. 0: callbacks run inside `deliver`, on the thread that polls the
    /// dispatcher. Together with a manual clock, tests of a handler are then deterministic.
    std::size_t threads = 1;
};

/// Calls the callbacks of subscribers with a `local:` callback in this process. The delivery
/// succeeds if the callback returns, and fails if the callback throws; the failure is permanent if
/// the exception is a `Reject`. If this process has registered no callback with the name, the
/// delivery fails, too, and the batch waits until the program registers a callback.
///
/// Thread safety: all members may be called from any thread. Callbacks run on threads of the
/// transport, if it has any.
class LocalTransport final : public Transport {
public:
    /// `callbacks` must outlive the transport.
    explicit LocalTransport(Callbacks& callbacks, LocalTransportOptions options = {});

    /// Waits for running callbacks; cancels deliveries whose callback has not begun. Inside a
    /// callback, and inside a completion of a store, ends the program with a message.
    ~LocalTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    /// The names of the callbacks that are registered in this process now.
    [[nodiscard]] std::vector<std::string> destinations() const override;
    void attach() override;
    void deliver(Delivery delivery, DeliveryDone done) override;

    /// Returns false while the callback for the batch is running.
    [[nodiscard]] bool withdraw(const Uid& batch) override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
