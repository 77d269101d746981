/// @file
/// A blocking client of Redis, to inspect and control a server.

#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/store/redis.hpp"

namespace routemaster::test {

/// The reply of a server.
struct RedisReply {
    enum class Kind { text, number, nothing, list };

    Kind kind = Kind::nothing;
    std::string text{};  ///< A text, or the digits of a number.
    std::int64_t number = 0;
    std::vector<RedisReply> list{};

    /// The complete reply, nested lists in brackets.
    [[nodiscard]] std::string dump() const;
};

/// An error reply, or a server that cannot be reached.
class RedisFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One connection. Calls that take longer than ten seconds throw `RedisFailure`.
class RedisClient {
public:
    /// Throws `RedisFailure` when nobody listens.
    explicit RedisClient(const RedisAddress& address);
    ~RedisClient();

    RedisClient(const RedisClient&) = delete;
    RedisClient& operator=(const RedisClient&) = delete;

    /// Sends a command and waits for the reply. Throws `RedisFailure` with the text of an error.
    RedisReply command(const std::vector<std::string>& words);

    /// Waits for a reply behind that of the last command, as a subscription sends them.
    RedisReply more() { return reply(); }

private:
    [[nodiscard]] std::string line();
    [[nodiscard]] std::string bytes(std::size_t size);
    [[nodiscard]] RedisReply reply();
    void fill();

    int socket_ = -1;
    std::string read_;
    std::size_t used_ = 0;  // Bytes of the buffer that were used.
};

/// One command over a connection of its own.
RedisReply redis_command(const RedisAddress& address, const std::vector<std::string>& words);

/// The value of a line in a reply of INFO or CLUSTER INFO; empty when there is none.
[[nodiscard]] std::string redis_info(std::string_view info, std::string_view name);

}  // namespace routemaster::test
