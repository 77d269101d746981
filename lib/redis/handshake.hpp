/// @file
/// The first exchange of a new connection with the server.

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

/// Authenticates, and checks the server: a master, new enough, that accepts scripts. A server that
/// is still loading its dataset accepts no scripts. All requests are sent together.
///
/// A user with restricted permissions needs SELECT when there is a database to select, INFO, ROLE,
/// SCRIPT LOAD and TIME. CLIENT SETNAME may be refused.
class Handshake {
public:
    /// For a connection that carries calls.
    explicit Handshake(const RedisOptions& options);

    /// For a connection with authentication only. A sentinel may not require the servers' password.
    enum class Peer : std::uint8_t { server, sentinel };
    Handshake(const RedisOptions& options, Peer peer);

    [[nodiscard]] bool is_needed() const noexcept { return !questions_.empty(); }

    void ask(std::string& out) const;

    /// Takes the next reply. Returns nothing until the last reply; then success, or the reason why
    /// the server cannot be used.
    [[nodiscard]] std::optional<Result<void>> take(const redisReply& reply);

    /// The master of a server that was refused as a replica.
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
