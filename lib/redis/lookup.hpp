/// @file
/// Finds the addresses of a name without keeping anybody waiting.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"
#include "socket.hpp"
#include "waker.hpp"

namespace routemaster::redis {

/// One query to the system's resolver, which may take its time and cannot be called off: it is
/// asked on a thread of its own, which outlives this object when nobody waits for it any more.
class Lookup {
public:
    /// Begins to ask. The result of an address in digits is there at once. `waker` is called when
    /// it is there.
    Lookup(const RedisAddress& address, std::shared_ptr<Waker> waker);

    /// The addresses, at least one; nothing as long as there is none.
    [[nodiscard]] std::optional<Result<std::vector<SocketAddress>>> result() const;

private:
    struct Query {
        std::mutex mutex;  ///< Guards the result.
        std::optional<Result<std::vector<SocketAddress>>> result;
    };

    std::shared_ptr<Query> query_ = std::make_shared<Query>();
};

}  // namespace routemaster::redis
