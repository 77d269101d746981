/// @file
/// What a new connection has to settle with the server first.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "call.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/redis.hpp"
#include "script.hpp"

namespace routemaster::redis {

/// Says who we are, and makes sure of whom we talk to: a master, new enough, that knows our
/// scripts. All questions travel together.
///
/// A user with restricted rights needs CLIENT SETNAME (a refusal is no failure), SELECT when there
/// is a database to select, INFO, ROLE, SCRIPT LOAD and TIME.
class Handshake {
public:
    /// For a connection that carries calls.
    Handshake(const RedisOptions& options, std::span<const Script* const> scripts);

    /// For one that only has to be let in. A sentinel need not want the password of the servers.
    enum class Peer : std::uint8_t { server, sentinel };
    Handshake(const RedisOptions& options, Peer peer);

    /// Whether there is anything to settle.
    [[nodiscard]] bool is_needed() const noexcept { return !questions_.empty(); }

    /// Appends the questions.
    void ask(std::string& out) const;

    /// Takes the next answer. Nothing before the last one, unless the server is not to be used:
    /// then why.
    [[nodiscard]] std::optional<Result<void>> take(const redisReply& reply);

    /// The master of the server that was refused for being a replica.
    [[nodiscard]] const std::optional<RedisAddress>& master() const noexcept { return master_; }

private:
    enum class Question : std::uint8_t { auth, name, select, info, role, load };

    [[nodiscard]] Result<void> judge(Question question, const redisReply& reply);
    [[nodiscard]] Result<void> judge_role(const redisReply& reply);

    const RedisOptions& options_;
    Peer peer_;
    std::span<const Script* const> scripts_;
    std::vector<Question> questions_;
    std::size_t answered_ = 0;
    std::size_t loaded_ = 0;
    std::optional<RedisAddress> master_;
};

}  // namespace routemaster::redis
