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
    /// Maximum number of callbacks that run at once. Callbacks of one subscriber run concurrently
    /// only if its `max_in_flight` allows it. 0: callbacks run inside `deliver`, on the thread that
    /// polls the dispatcher, so that tests with a manual clock are deterministic.
    std::size_t threads = 1;
};

/// Transport that calls the registered callback for a `local:` URL. The delivery succeeds if the
/// callback returns, and fails if it throws. The failure is permanent if the exception is a
/// `Reject`. If this process has no callback with the name, the delivery fails, and the batch waits
/// until a program registers the callback.
///
/// Thread safety: all members may be called from any thread. Callbacks run on threads of the
/// transport, unless `threads` is 0.
class LocalTransport final : public Transport {
public:
    /// `callbacks` must outlive the transport.
    explicit LocalTransport(Callbacks& callbacks, LocalTransportOptions options = {});

    /// Waits for running callbacks, and cancels deliveries whose callback has not begun. Inside a
    /// callback, and inside a completion of a store, terminates the program with a message.
    ~LocalTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    /// Returns the names of the callbacks that are registered in this process now.
    [[nodiscard]] std::vector<std::string> destinations() const override;
    void attach() override;
    void deliver(Delivery delivery, DeliveryDone done) override;

    /// Returns false while the callback for the batch runs.
    [[nodiscard]] bool withdraw(const Uid& batch) override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
