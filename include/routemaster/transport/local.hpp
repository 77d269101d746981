/// @file
/// Delivers batches to callbacks in this process.

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "routemaster/callbacks.hpp"
#include "routemaster/reject.hpp"
#include "routemaster/transport.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Settings of a `LocalTransport`.
struct LocalTransportOptions {
    /// Callbacks that run at once. Those of one subscriber do so only if its `max_in_flight`
    /// allows it. 0: callbacks run inside `deliver`, so whoever polls the dispatcher runs them.
    /// With a manual clock that makes a test of a handler deterministic.
    std::size_t threads = 1;
};

/// Calls the callback that a `local:` subscriber has in this process. To return is success, to
/// throw is failure, which is permanent when `Reject` is thrown; having no callback is failure too,
/// so batches wait for the program to name it.
///
/// Thread safety: all members may be called from any thread. Callbacks run on its own threads, if
/// it has any.
class LocalTransport final : public Transport {
public:
    /// `callbacks` must outlive it.
    explicit LocalTransport(Callbacks& callbacks, LocalTransportOptions options = {});

    /// Waits for callbacks that run; cancels those that have not begun.
    ~LocalTransport() override;

    [[nodiscard]] bool serves(std::string_view callback) const override;
    void deliver(Delivery delivery, DeliveryDone done) override;

    /// A callback that has begun is not taken back.
    [[nodiscard]] bool withdraw(const Uid& batch) override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
