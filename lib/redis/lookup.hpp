/// @file
/// `Lookup`: resolves a host name without blocking.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/system/waker.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"
#include "socket.hpp"

namespace routemaster::redis {

/// Name lookup by the system's resolver. The resolver may block for long and cannot be cancelled.
/// The lookup therefore runs on a separate thread, and may outlive this object.
class Lookup {
public:
    /// Starts the lookup. For a numeric address, the result is available at once. `waker` is called
    /// when the result is available.
    Lookup(const RedisAddress& address, std::shared_ptr<detail::Waker> waker);

    /// The addresses, at least one, or an error. Nothing while the lookup is running.
    [[nodiscard]] std::optional<Result<std::vector<SocketAddress>>> result() const;

private:
    struct Query {
        std::mutex mutex;  ///< Guards the result.
        std::optional<Result<std::vector<SocketAddress>>> result;
    };

    std::shared_ptr<Query> query_ = std::make_shared<Query>();
};

}  // namespace routemaster::redis
