/// @file
/// Finds the addresses of a name without blocking.

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

/// One query to the system's resolver. A query may block for long and cannot be cancelled. It runs
/// on a separate thread, which may outlive this object.
class Lookup {
public:
    /// Starts the query. The result for a numeric address is available at once. `waker` is called
    /// when the result is available.
    Lookup(const RedisAddress& address, std::shared_ptr<detail::Waker> waker);

    /// The addresses, at least one, or an error; nothing while the query runs.
    [[nodiscard]] std::optional<Result<std::vector<SocketAddress>>> result() const;

private:
    struct Query {
        std::mutex mutex;  ///< Guards the result.
        std::optional<Result<std::vector<SocketAddress>>> result;
    };

    std::shared_ptr<Query> query_ = std::make_shared<Query>();
};

}  // namespace routemaster::redis
