/// @file
/// `RedisClient`: a blocking client, to inspect and control a Redis server.

#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/store/redis.hpp"

namespace routemaster::test {

/// A reply of a server.
struct RedisReply {
    enum class Kind { text, number, nothing, list };

    Kind kind = Kind::nothing;
    std::string text{};  ///< A text, or the digits of a number.
    std::int64_t number = 0;
    std::vector<RedisReply> list{};

    /// The complete reply as text, with nested lists in brackets.
    [[nodiscard]] std::string dump() const;
};

/// An error reply, or an unreachable server.
class RedisFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A connection. Calls throw `RedisFailure` after ten seconds.
class RedisClient {
public:
    /// Connects. Throws `RedisFailure` on an error.
    explicit RedisClient(const RedisAddress& address);
    ~RedisClient();

    RedisClient(const RedisClient&) = delete;
    RedisClient& operator=(const RedisClient&) = delete;

    /// Sends a command and waits for the reply. An error reply throws `RedisFailure` with its text.
    RedisReply command(const std::vector<std::string>& words);

    /// Waits for a further reply without a command, as with subscriptions.
    RedisReply more() { return reply(); }

private:
    [[nodiscard]] std::string line();
    [[nodiscard]] std::string bytes(std::size_t size);
    [[nodiscard]] RedisReply reply();
    void fill();

    int socket_ = -1;
    std::string read_;
    std::size_t used_ = 0;  // The used bytes of the buffer.
};

/// Sends one command on a new connection.
RedisReply redis_command(const RedisAddress& address, const std::vector<std::string>& words);

/// The value of a line in a reply to INFO or CLUSTER INFO; empty when the line is missing.
[[nodiscard]] std::string redis_info(std::string_view info, std::string_view name);

}  // namespace routemaster::test
