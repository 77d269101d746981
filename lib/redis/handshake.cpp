#include "handshake.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "unavailable.hpp"
#include "wire.hpp"

namespace routemaster::redis {

namespace {

constexpr int version_min = 7;

std::string_view value_of(std::string_view info, std::string_view key) {
    const auto line = "\n" + std::string{key} + ":";
    const auto at = info.find(line);
    if (at == std::string_view::npos) return {};
    const auto value = info.substr(at + line.size());
    return value.substr(0, value.find_first_of("\r\n"));
}

/// Whether the error only rejects the name of the connection. The name is informational, so this
/// error is ignored.
bool is_about_the_name(std::string_view error) {
    return error.starts_with("NOPERM") || error.starts_with("ERR Client names") ||
           error.starts_with("ERR unknown");
}

Result<void> judge_version(std::string_view info) {
    const auto version = value_of(info, "redis_version");
    int major = 0;
    const auto [end, code] =
        std::from_chars(version.data(), version.data() + version.size(), major);
    if (code != std::errc{}) return unavailable("the server does not report its version");
    if (major >= version_min) return {};
    return Error{Errc::invalid,
                 "Redis " + std::string{version} + " is too old: 7.0 or newer is needed"};
}

}  // namespace

Handshake::Handshake(const RedisOptions& options, Peer peer) : options_{options}, peer_{peer} {
    if (!options.password.empty()) questions_.push_back(Question::auth);
    if (!options.client_name.empty()) questions_.push_back(Question::name);
}

Handshake::Handshake(const RedisOptions& options) : Handshake{options, Peer::server} {
    if (options.database != 0) questions_.push_back(Question::select);
    questions_.push_back(Question::info);
    questions_.push_back(Question::role);
    questions_.push_back(Question::load);
}

void Handshake::ask(std::string& out) const {
    for (const auto question : questions_) {
        switch (question) {
            case Question::auth:
                if (options_.user.empty()) {
                    append_command(out, {"AUTH", options_.password});
                } else {
                    append_command(out, {"AUTH", options_.user, options_.password});
                }
                break;
            case Question::name:
                append_command(out, {"CLIENT", "SETNAME", options_.client_name});
                break;
            case Question::select:
                append_command(out, {"SELECT", std::to_string(options_.database)});
                break;
            case Question::info: append_command(out, {"INFO", "server"}); break;
            case Question::role: append_command(out, {"ROLE"}); break;
            case Question::load: append_command(out, {"SCRIPT", "LOAD", "return"}); break;
        }
    }
}

std::optional<Result<void>> Handshake::take(const redisReply& reply) {
    const auto question = questions_.at(answered_++);
    if (auto verdict = judge(question, reply); !verdict) return verdict;
    if (answered_ == questions_.size()) return Result<void>{};
    return std::nullopt;
}

Result<void> Handshake::judge(Question question, const redisReply& reply) {
    if (reply.type == REDIS_REPLY_ERROR) {
        const auto text = text_of(reply);
        if (question == Question::name && is_about_the_name(text)) return {};
        const bool needless = question == Question::auth && text.starts_with("ERR AUTH");
        if (needless && peer_ == Peer::sentinel) return {};
        return unavailable(std::string{text});
    }
    switch (question) {
        case Question::auth:
        case Question::name:
        case Question::select:
        case Question::load: return {};
        case Question::info: return judge_version(text_of(reply));
        case Question::role: return judge_role(reply);
    }
    return {};
}

Result<void> Handshake::judge_role(const redisReply& reply) {
    const auto role = text_of(reply, 0);
    if (role == "master") return {};
    if (role == "sentinel") {
        return Error{Errc::invalid, "this is a sentinel: name the master it watches"};
    }
    if (role == "slave" && reply.elements > 2 && reply.element[2]->type == REDIS_REPLY_INTEGER) {
        const auto port = reply.element[2]->integer;
        if (port > 0 && port <= 65'535) {
            master_ = {std::string{text_of(reply, 1)}, static_cast<std::uint16_t>(port)};
        }
        return unavailable("this is a replica of " + std::string{text_of(reply, 1)} + ":" +
                           std::to_string(port));
    }
    return unavailable("this is not a master, but " + std::string{role});
}

}  // namespace routemaster::redis
