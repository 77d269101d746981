/// @file
/// What a new connection first exchanges with the server.

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

/// Authenticates, and checks the server: a master, new enough, that takes scripts, as one does not
/// that reads its dataset still. All requests are sent together.
///
/// A user with restricted permissions needs CLIENT SETNAME (a refusal is no failure), SELECT when
/// there is a database to select, INFO, ROLE, SCRIPT LOAD and TIME.
class Handshake {
public:
    /// For a connection that carries calls.
    explicit Handshake(const RedisOptions& options);

    /// For a connection that only has to authenticate. A sentinel may not need the servers'
    /// password.
    enum class Peer : std::uint8_t { server, sentinel };
    Handshake(const RedisOptions& options, Peer peer);

    /// Whether there is anything to send.
    [[nodiscard]] bool is_needed() const noexcept { return !questions_.empty(); }

    /// Appends the requests.
    void ask(std::string& out) const;

    /// Takes the next reply. Returns nothing until the last one, or the reason when the server
    /// cannot be used.
    [[nodiscard]] std::optional<Result<void>> take(const redisReply& reply);

    /// The master of a server that was refused because it is a replica.
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
