/// @file
/// `Handshake`: the first exchange on a new connection.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "call.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"

namespace routemaster::redis {

/// Authentication and check of the server. The server must be a master, have a supported version
/// and accept scripts, which a server does not while it loads its dataset. All requests are sent
/// together.
///
/// A user with restricted permissions needs INFO, ROLE, SCRIPT LOAD and TIME, and also SELECT if a
/// database is configured. CLIENT SETNAME may be forbidden.
class Handshake {
public:
    explicit Handshake(const RedisOptions& options);

    /// Handshake of a connection that only authenticates. A sentinel need not require the password
    /// of the servers.
    enum class Peer : std::uint8_t { server, sentinel };
    Handshake(const RedisOptions& options, Peer peer);

    [[nodiscard]] bool is_needed() const noexcept { return !questions_.empty(); }

    void ask(std::string& out) const;

    /// Processes the next reply. Returns nothing before the last reply. Then returns success, or
    /// the reason why the server cannot be used.
    [[nodiscard]] std::optional<Result<void>> take(const redisReply& reply);

    /// The master, if the server was rejected because it is a replica.
    [[nodiscard]] const std::optional<RedisAddress>& master() const noexcept { return master_; }

private:
    enum class Question : std::uint8_t { auth, name, select, info, role, load };

    [[nodiscard]] Result<void> judge(Question question, const redisReply& reply);
    [[nodiscard]] Result<void> judge_role(const redisReply& reply);

    const RedisOptions& options_;
    Peer peer_;
    std::vector<Question> questions_;
    std::size_t answered_ = 0;
    std::optional<RedisAddress> master_;
};

}  // namespace routemaster::redis
