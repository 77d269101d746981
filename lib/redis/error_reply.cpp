#include "error_reply.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>

namespace routemaster::redis {

namespace {

/// First words of errors that may pass with time. After the first write of a script, Redis no
/// longer refuses commands of this script because of the server's state. After such an error, the
/// script has therefore changed nothing.
constexpr std::array<std::string_view, 11> passing{
    "OOM",        "BUSY",   "CLUSTERDOWN", "TRYAGAIN",  "NOREPLICAS", "MISCONF",
    "UNKILLABLE", "NOPERM", "EXECABORT",   "WRONGPASS", "DENIED"};

/// A new connection or another server may resolve these errors.
constexpr std::array<std::string_view, 4> wrong_server{"READONLY", "LOADING", "MASTERDOWN",
                                                       "NOAUTH"};

template <class Words>
bool contains(const Words& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Parses the target of `MOVED 1234 host:port`. An empty host means the host of `server`.
std::optional<RedisAddress> target(std::string_view text, const RedisAddress& server) {
    const auto space = text.rfind(' ');
    const auto colon = text.rfind(':');
    if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) {
        return std::nullopt;
    }
    RedisAddress address{.host = std::string{text.substr(space + 1, colon - space - 1)}, .port = 0};
    if (address.host.empty()) address.host = server.host;
    const auto port = text.substr(colon + 1);
    const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (code != std::errc{} || end != port.data() + port.size()) return std::nullopt;
    return address;
}

}  // namespace

ErrorReply parse_error_reply(std::string_view text, const RedisAddress& server) {
    using Kind = ErrorReply::Kind;
    const auto word = text.substr(0, text.find(' '));
    const std::string all{text};
    if (word == "INVALID") {
        const auto rest = text.size() > word.size() ? text.substr(word.size() + 1) : text;
        return {Kind::report, {Errc::invalid, std::string{rest}}};
    }
    if (word == "NOSCRIPT") return {Kind::unknown_script, {Errc::unavailable, all}};
    if (word == "MOVED") {
        const auto to = target(text, server);
        if (!to) return {Kind::report, {Errc::unavailable, all}};
        return {Kind::moved, {Errc::unavailable, all}, *to};
    }
    // ASK redirects a command on one key. A script needs several keys, and during a migration some
    // keys are still on the old server. The call is therefore repeated later. MOVING is the error
    // of routemaster's scripts for a migrated key.
    if (word == "ASK" || word == "MOVING") return {Kind::slot_moving, {Errc::unavailable, all}};
    if (contains(wrong_server, word)) return {Kind::reconnect, {Errc::unavailable, all}};
    // If a permission is missing in the middle of a script, part of the changes was made. This
    // error is therefore not reported as retryable.
    const bool is_inside = word == "NOPERM" && text.find(" script: ") != std::string_view::npos;
    const bool passes = (contains(passing, word) && !is_inside) ||
                        text.starts_with("ERR max number of clients") ||
                        text.find("Script killed by user") != std::string_view::npos;
    return {Kind::report, {passes ? Errc::unavailable : Errc::corrupted, all}};
}

}  // namespace routemaster::redis
