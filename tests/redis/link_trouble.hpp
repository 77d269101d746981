/// @file
/// Links with failing servers and networks.

#pragma once

#include <cstddef>
#include <string>

#include "link_scene.hpp"
#include "support/await.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"

namespace routemaster::test {

/// A server that is back is found again within this time.
inline constexpr Duration recovery_max{2'500};

/// A link through a gate.
struct GatedScene {
    explicit GatedScene(Duration timeout = Duration{5'000})
        : scene{{.addresses = {{"127.0.0.1", gate.port()}}, .timeout = timeout}} {
        scene.await_connected();
    }

    RedisServer server;
    TcpGate gate{server.port()};
    LinkScene scene;
};

/// Calls until a result is not an error; false when that does not come in time.
inline bool recovers(LinkScene& scene, Duration timeout = recovery_max) {
    return await([&] { return scene.ask_echo("well") == "well"; }, timeout);
}

/// What a result, as text, says about its call.
inline bool is_in_doubt(const std::string& answer) { return answer.starts_with("timed out: "); }
inline bool is_refused(const std::string& answer) { return answer.starts_with("unavailable: "); }

/// How often that was logged.
inline std::size_t losses(const LinkScene& scene) {
    return scene.log.count(LogLevel::warning, "connection lost");
}
inline std::size_t recoveries(const LinkScene& scene) {
    return scene.log.count(LogLevel::info, "connected again, after");
}

}  // namespace routemaster::test
