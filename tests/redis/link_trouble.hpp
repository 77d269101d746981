/// @file
/// Helpers for links to failing servers and networks.

#pragma once

#include <cstddef>
#include <string>

#include "link_scene.hpp"
#include "support/await.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"

namespace routemaster::test {

/// The link finds a restarted server within this time.
inline constexpr Duration recovery_max{2'500};

/// A link through a `TcpGate`.
struct GatedScene {
    explicit GatedScene(Duration timeout = Duration{5'000})
        : scene{{.addresses = {{"127.0.0.1", gate.port()}}, .timeout = timeout}} {
        scene.await_connected();
    }

    RedisServer server;
    TcpGate gate{server.port()};
    LinkScene scene;
};

/// Calls until a call succeeds. Returns false at the timeout.
inline bool recovers(LinkScene& scene, Duration timeout = recovery_max) {
    return await([&] { return scene.ask_echo("well") == "well"; }, timeout);
}

/// Classifies the text of a result.
inline bool is_in_doubt(const std::string& answer) { return answer.starts_with("timed out: "); }
inline bool is_refused(const std::string& answer) { return answer.starts_with("unavailable: "); }

/// The number of such log lines.
inline std::size_t losses(const LinkScene& scene) {
    return scene.log.count(LogLevel::warning, "connection lost");
}
inline std::size_t recoveries(const LinkScene& scene) {
    return scene.log.count(LogLevel::info, "connected again, after");
}

}  // namespace routemaster::test
