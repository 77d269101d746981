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

/// One question to the system's resolver, which may take its time and cannot be called off: it is
/// asked on a thread of its own, which outlives this object when nobody waits for it any more.
class Lookup {
public:
    /// Begins to ask. An address in digits is answered at once. `waker` is called with the answer.
    Lookup(const RedisAddress& address, std::shared_ptr<Waker> waker);

    /// The addresses, at least one; nothing as long as there is no answer.
    [[nodiscard]] std::optional<Result<std::vector<SocketAddress>>> answer() const;

private:
    struct Question {
        std::mutex mutex;  ///< Guards the answer.
        std::optional<Result<std::vector<SocketAddress>>> answer;
    };

    std::shared_ptr<Question> question_ = std::make_shared<Question>();
};

}  // namespace routemaster::redis
