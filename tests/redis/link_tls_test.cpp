// The link over TLS.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "link_scene.hpp"
#include "routemaster/job_queue.hpp"
#include "support/forked_child.hpp"
#include "support/free_port.hpp"
#include "support/recorded_log.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A certificate authority, and a certificate signed by it for `names`.
class Authority {
public:
    explicit Authority(const std::string& names) {
        sh("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
           "-subj /CN=authority -keyout ca.key -out ca.pem");
        sh("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server "
           "-keyout key.pem -out request.pem");
        sh("echo subjectAltName=" + names +
           " > names && openssl x509 -req -days 2 "
           "-in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out cert.pem");
    }

    [[nodiscard]] std::string file(const char* name) const {
        return (folder_.path() / name).string();
    }

private:
    void sh(const std::string& command) const {
        const auto all = "cd '" + folder_.path().string() + "' && (" + command + ") 2>/dev/null";
        REQUIRE(std::system(all.c_str()) == 0);
    }

    TemporaryFolder folder_;
};

/// A server with TLS on one port, and a plain port for the test.
class TlsServer {
public:
    explicit TlsServer(const Authority& authority)
        : server_{{"--tls-port", std::to_string(port_), "--tls-cert-file",
                   authority.file("cert.pem"), "--tls-key-file", authority.file("key.pem"),
                   "--tls-ca-cert-file", authority.file("ca.pem"), "--tls-auth-clients", "no"}} {}

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] RedisServer& plain() { return server_; }

private:
    std::uint16_t port_ = free_port();
    RedisServer server_;
};

RedisOptions tls_options(const std::string& host, std::uint16_t port, const std::string& ca_file) {
    return {.addresses = {{host, port}},
            .tls = true,
            .tls_ca_file = ca_file,
            .timeout = Duration{2'000}};
}

/// The reason why there is no connection.
std::string last_error(RedisOptions settings) {
    settings.timeout = Duration{300};
    LinkScene scene{std::move(settings)};
    return scene.ask_echo("x");
}

}  // namespace

TEST_CASE("link over TLS: calls, large calls too, and messages arrive") {
    const Authority authority{"DNS:localhost"};
    TlsServer server{authority};
    auto options = tls_options("localhost", server.port(), authority.file("ca.pem"));
    options.timeout = Duration{60'000};
    LinkScene scene{options};
    scene.await_connected();
    const std::string large(5'000'000, 'x');
    std::vector<std::future<std::string>> answers;
    for (int i = 0; i < 3; ++i) {
        answers.push_back(scene.begin(echo, {}, large));
        for (int j = 0; j < 1'000; ++j) answers.push_back(scene.begin(echo, {}, "small"));
    }
    bool whole = true;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        whole =
            whole && LinkScene::end(std::move(answers[i])) == (i % 1'001 == 0 ? large : "small");
    }
    CHECK(whole);
    server.plain().command({"PUBLISH", "wake", "orders"});
    CHECK(scene.heard.await(2) == std::vector<std::string>{"", "orders"});
}

TEST_CASE("link over TLS: replies of any size are read to their end at once") {
    const Authority authority{"DNS:localhost"};
    TlsServer server{authority};
    TcpGate gate{server.port()};
    LinkScene scene{tls_options("localhost", gate.port(), authority.file("ca.pem"))};
    scene.await_connected();
    for (std::size_t size = 256'000; size < 280'000; size += 1'100) {
        CAPTURE(size);
        // The first reply is a separate TLS record, so that further records end at any offset. No
        // data follows the last record.
        gate.fall_silent();
        auto first = scene.begin(echo, {}, "x");
        auto second = scene.begin(run, {}, "return string.rep('x', " + std::to_string(size) + ")");
        gate.speak();
        CHECK(LinkScene::end(std::move(first)) == "x");
        CHECK(LinkScene::end(std::move(second)).size() == size);
    }
}

TEST_CASE("link over TLS: a server is found again after a restart and after a reset") {
    const Authority authority{"DNS:localhost"};
    TlsServer server{authority};
    TcpGate gate{server.port()};
    LinkScene scene{tls_options("localhost", gate.port(), authority.file("ca.pem"))};
    scene.await_connected();
    gate.cut();
    CHECK(await([&] { return scene.ask_echo("x") == "x"; }, Duration{2'500}));
    server.plain().kill();
    server.plain().start();
    CHECK(await([&] { return scene.ask_echo("x") == "x"; }, Duration{2'500}));
}

TEST_CASE("link over TLS: a broken connection leaves calls that were sent in doubt") {
    const Authority authority{"DNS:localhost"};
    TlsServer server{authority};
    TcpGate gate{server.port()};
    LinkScene scene{tls_options("localhost", gate.port(), authority.file("ca.pem"))};
    scene.await_connected();
    server.plain().pause();
    const auto before = gate.bytes_to_server();
    auto answer = scene.begin(echo, {}, "x");
    REQUIRE(await([&] { return gate.bytes_to_server() > before; }));
    gate.cut();
    CHECK(LinkScene::end(std::move(answer)).starts_with("timed out: "));
    server.plain().resume();
}

TEST_CASE("link over TLS: a certificate for an IP address is valid for this address") {
    const Authority authority{"IP:127.0.0.1"};
    TlsServer server{authority};
    LinkScene scene{tls_options("127.0.0.1", server.port(), authority.file("ca.pem"))};
    CHECK(scene.ask_echo("x") == "x");
    const auto why = last_error(tls_options("localhost", server.port(), authority.file("ca.pem")));
    CHECK(why.find("TLS: hostname mismatch") != std::string::npos);
}

TEST_CASE("link over TLS: a server whose certificate has a wrong name is refused") {
    const Authority authority{"DNS:other.example"};
    TlsServer server{authority};
    CHECK(last_error(tls_options("localhost", server.port(), authority.file("ca.pem")))
              .find("TLS: hostname mismatch") != std::string::npos);
    CHECK(last_error(tls_options("127.0.0.1", server.port(), authority.file("ca.pem")))
              .find("TLS: IP address mismatch") != std::string::npos);
}

TEST_CASE("link over TLS: a server whose certificate has an unknown authority is refused") {
    const Authority authority{"DNS:localhost"};
    const Authority other{"DNS:localhost"};
    TlsServer server{authority};
    CHECK(last_error(tls_options("localhost", server.port(), other.file("ca.pem"))).find("TLS: ") !=
          std::string::npos);
    CHECK(last_error(tls_options("localhost", server.port(), "")).find("TLS: ") !=
          std::string::npos);
}

TEST_CASE("link over TLS: a server without TLS is refused") {
    const Authority authority{"DNS:localhost"};
    TlsServer server{authority};
    const auto why =
        last_error(tls_options("localhost", server.plain().port(), authority.file("ca.pem")));
    CHECK(why.starts_with("unavailable: "));
    CHECK(why.find("TLS") != std::string::npos);
}

TEST_CASE("link over TLS: a forked child that destroys the store sends nothing to the server") {
    const Authority authority{"DNS:localhost"};
    TlsServer server{authority};
    RecordedLog log;
    auto options = tls_options("localhost", server.port(), authority.file("ca.pem"));
    options.timeout = Duration{60'000};
    options.log = log.sink();
    std::optional<RedisStore> store{std::in_place, options};
    JobQueue jobs{*store, "work"};
    const auto report = in_child(
        [&]() -> std::string {
            store.reset();
            return "destroyed";
        },
        ChildEnd::after_statics);
    CHECK(report.exited());
    CHECK(report.text == "destroyed");
    for (int number = 0; number < 10; ++number) CHECK(jobs.push({"resize", {number}}).has_value());
    CHECK(log.count(LogLevel::warning, "connection lost") == 0);
}
