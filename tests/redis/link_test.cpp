// The link to a healthy server.

#include "redis/link.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "link_scene.hpp"
#include "routemaster/error.hpp"
#include "support/redis_server.hpp"
#include "support/tcp_gate.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("link: the reply is what the script returns") {
    const RedisServer server;
    LinkScene scene{server};
    CHECK(scene.ask_echo("hello") == "hello");
    CHECK(scene.ask(run, {}, "return 42") == "42");
    CHECK(scene.ask(run, {}, "return false") == "nothing");
    CHECK(scene.ask(run, {}, "return {1, {'two', {}}, 'three'}") == "[1, [two, []], three]");
    CHECK(scene.ask(run, {}, "return redis.status_reply('FINE')") == "FINE");
    CHECK(scene.ask(run, {}, "return {redis.error_reply('PART bad')}") == "[PART bad]");
    const std::string bytes{"\0\r\n\xff$", 5};
    CHECK(scene.ask_echo(bytes) == bytes);
    CHECK(scene.ask_echo("") == "");
}

TEST_CASE("link: the error reply of a script sets the error code") {
    const RedisServer server;
    LinkScene scene{server};
    CHECK(scene.ask(run, {}, "return redis.error_reply('INVALID no such topic')") ==
          "invalid: no such topic");
    CHECK(scene.ask(run, {}, "error('boom')").starts_with("corrupted: ERR"));
    server.command({"SET", "text", "x"});
    CHECK(scene.ask(append, "text", "y").starts_with("corrupted: WRONGTYPE"));
    CHECK(scene.ask_echo("still there") == "still there");
}

TEST_CASE("link: calls run in the order of their sending") {
    const RedisServer server;
    LinkScene scene{server};
    std::vector<redis::Call> calls;
    std::promise<void> last;
    std::vector<std::string> answers;
    for (int i = 1; i <= 5'000; ++i) {
        calls.push_back(LinkScene::call(append, "list", std::to_string(i), [&, i](const auto& a) {
            answers.push_back(dump(a));
            if (i == 5'000) last.set_value();
        }));
    }
    // The first calls are sent before there is a connection.
    const std::span all{calls};
    scene.link.send(all.first(10));
    scene.link.send(all.subspan(10, 1'000));
    scene.await_connected();
    for (auto& call : all.subspan(1'010)) scene.link.send({&call, 1});
    REQUIRE(last.get_future().wait_for(std::chrono::seconds{20}) == std::future_status::ready);
    const auto list = server.command({"LRANGE", "list", "0", "-1"}).list;
    REQUIRE(list.size() == 5'000);
    for (std::size_t i = 0; i < list.size(); ++i) {
        REQUIRE(list[i].text == std::to_string(i + 1));
        REQUIRE(answers[i] == std::to_string(i + 1));
    }
}

TEST_CASE("link: calls from many threads each get one reply") {
    const RedisServer server;
    LinkScene scene{server};
    constexpr int threads = 8;
    constexpr int calls = 3'000;
    std::atomic<int> right = 0;
    std::atomic<int> answered = 0;
    std::vector<std::thread> callers;
    for (int t = 0; t < threads; ++t) {
        callers.emplace_back([&, t] {
            for (int i = 0; i < calls; ++i) {
                const auto text = std::to_string(t) + "/" + std::to_string(i);
                auto call = LinkScene::call(echo, {}, text, [&, text](const auto& answer) {
                    right += dump(answer) == text ? 1 : 0;
                    ++answered;
                });
                scene.link.send({&call, 1});
            }
        });
    }
    for (auto& caller : callers) caller.join();
    CHECK(await([&] { return answered == threads * calls; }));
    CHECK(right == threads * calls);
}

TEST_CASE("link: the callback of a call may send the next call") {
    const RedisServer server;
    LinkScene scene{server};
    std::promise<int> done;
    std::function<void(int)> next = [&](int left) {
        if (left == 0) return done.set_value(0);
        auto call = LinkScene::call(echo, {}, "x", [&, left](const auto&) { next(left - 1); });
        scene.link.send({&call, 1});
    };
    next(1'000);
    CHECK(done.get_future().wait_for(std::chrono::seconds{20}) == std::future_status::ready);
}

TEST_CASE("link: a call of an idle link is sent at once") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    const Stopwatch watch;
    for (int i = 0; i < 200; ++i) REQUIRE(scene.ask_echo("x") == "x");
    CHECK(watch.elapsed() < Duration{1'000});
}

TEST_CASE("link: calls that wait at the same time are sent together") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    const auto reads = [&] { return std::atoi(server.info("total_reads_processed").c_str()); };
    const auto before = reads();
    std::atomic<int> answered = 0;
    std::vector<redis::Call> calls;
    for (int i = 0; i < 1'000; ++i) {
        calls.push_back(LinkScene::call(echo, {}, "x", [&](const auto&) { ++answered; }));
    }
    scene.link.send(calls);
    REQUIRE(await([&] { return answered == 1'000; }));
    CHECK(reads() - before < 20);
}

TEST_CASE("link: requests and replies of many megabytes arrive complete") {
    const RedisServer server;
    // A sanitizer on a busy machine takes seconds for this.
    LinkScene scene{server, Duration{60'000}};
    std::string large;
    for (std::uint32_t i = 0; large.size() < 24'000'000; ++i) large += std::to_string(i) + "\r\n";
    std::vector<std::future<std::string>> answers;
    for (int i = 0; i < 3; ++i) {
        answers.push_back(scene.begin(echo, {}, large));
        answers.push_back(scene.begin(echo, {}, "small"));
    }
    bool whole = true;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        whole = whole && LinkScene::end(std::move(answers[i])) == (i % 2 == 0 ? large : "small");
    }
    CHECK(whole);
}

TEST_CASE("link: a call beyond waiting_max waiting calls is refused at once") {
    RedisServer server;
    LinkScene scene{{.addresses = {server.address()}, .waiting_max = 10}};
    scene.await_connected();
    server.pause();
    std::vector<std::future<std::string>> taken;
    for (int i = 0; i < 8; ++i) taken.push_back(scene.begin(echo, {}, "x"));
    std::vector<redis::Call> calls;
    std::vector<std::string> refused;
    std::atomic<int> answered = 0;
    for (int i = 0; i < 5; ++i) {
        calls.push_back(LinkScene::call(echo, {}, "y", [&](const auto& answer) {
            if (!answer) refused.push_back(dump(answer));
            ++answered;
        }));
    }
    scene.link.send(calls);
    CHECK(refused ==
          std::vector<std::string>(3, "unavailable: too many steps wait for the server"));
    server.resume();
    for (auto& answer : taken) CHECK(LinkScene::end(std::move(answer)) == "x");
    CHECK(await([&] { return answered == 5; }));
    CHECK(scene.ask_echo("space again") == "space again");
}

TEST_CASE(
    "link: after a reconnection, a notice of possibly missed messages precedes new messages") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    for (const auto* message : {"orders", "refunds"}) server.command({"PUBLISH", "wake", message});
    server.command({"PUBLISH", "other", "nothing"});
    server.command({"PUBLISH", "wake", "last"});
    CHECK(scene.heard.await(4) == std::vector<std::string>{"", "orders", "refunds", "last"});
}

TEST_CASE("link: a script is loaded before its first call, once on each connection") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    const auto known = [&] {
        return server.command({"SCRIPT", "EXISTS", echo.sha1, append.sha1, run.sha1}).dump();
    };
    CHECK(known() == "[0, 0, 0]");
    const auto loads = [&](int count) {
        const auto calls = "calls=" + std::to_string(count) + ",";
        return server.info("cmdstat_script|load").starts_with(calls);
    };
    CHECK(loads(1));  // While connecting, the link checks that it may load scripts.
    for (const auto* text : {"x", "y"}) CHECK(scene.ask_echo(text) == text);
    CHECK(known() == "[1, 0, 0]");
    CHECK(loads(2));
    CHECK(server.info("cmdstat_eval").empty());
    LinkScene other{server};
    CHECK(other.ask_echo("z") == "z");
    CHECK(loads(4));
}

TEST_CASE("link: a script that the server has lost is loaded again, even for a user without EVAL") {
    const RedisServer server;
    server.command({"ACL", "SETUSER", "bus", "on", ">secret", "~*", "&*", "+@all", "-eval"});
    LinkScene scene{
        RedisOptions{.addresses = {server.address()}, .user = "bus", .password = "secret"}};
    for (const auto* text : {"x", "y"}) {
        CHECK(scene.ask_echo(text) == text);
        server.command({"SCRIPT", "FLUSH"});
    }
}

TEST_CASE("link: a script that the user may not load is sent with its call") {
    const RedisServer server;
    server.command({"ACL", "SETUSER", "bus", "on", ">secret", "~*", "&*", "+@all"});
    LinkScene scene{
        RedisOptions{.addresses = {server.address()}, .user = "bus", .password = "secret"}};
    scene.await_connected();
    server.command({"ACL", "SETUSER", "bus", "-script|load"});
    for (const auto* text : {"x", "y"}) CHECK(scene.ask_echo(text) == text);
}

TEST_CASE("link: a script that the server has lost is sent again, once") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    CHECK(scene.ask_echo("w") == "w");
    server.command({"SCRIPT", "FLUSH"});
    for (const auto* text : {"x", "y"}) CHECK(scene.ask_echo(text) == text);
    CHECK(server.info("cmdstat_eval").empty());
    const auto stubborn = scene.ask(run, {}, "return redis.error_reply('NOSCRIPT never')");
    CHECK(stubborn == "unavailable: NOSCRIPT never");
    CHECK(server.info("cmdstat_eval").starts_with("calls=1,"));
}

TEST_CASE("link: a server that loses scripts again and again does not change replies") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    std::vector<std::future<std::string>> answers;
    for (int i = 0; i < 2'000; ++i) {
        if (i % 100 == 0) server.command({"SCRIPT", "FLUSH"});
        answers.push_back(scene.begin(append, "list", std::to_string(i)));
    }
    for (auto& answer : answers) CHECK(std::atoi(LinkScene::end(std::move(answer)).c_str()) > 0);
    CHECK(server.command({"LLEN", "list"}).number == 2'000);
}

TEST_CASE(
    "link: a connection sets its name, authenticates and selects the database as configured") {
    const RedisServer server;
    server.command({"ACL", "SETUSER", "bus", "on", ">secret", "~*", "&*", "+@all"});
    LinkScene scene{{.addresses = {server.address()},
                     .user = "bus",
                     .password = "secret",
                     .database = 3,
                     .client_name = "the-bus"}};
    scene.await_connected();
    CHECK(scene.ask(append, "list", "x") == "1");
    const auto clients = server.command({"CLIENT", "LIST"}).text;
    std::size_t mine = 0;
    for (std::size_t at = 0; (at = clients.find("name=the-bus ", at)) != std::string::npos; ++at) {
        const auto line = clients.substr(at, clients.find('\n', at) - at);
        CHECK(line.find("user=bus") != std::string::npos);
        ++mine;
    }
    CHECK(mine == 2);
    RedisClient other{server.address()};
    CHECK(other.command({"EXISTS", "list"}).number == 0);
    other.command({"SELECT", "3"});
    CHECK(other.command({"EXISTS", "list"}).number == 1);
}

TEST_CASE("link: a password of the default user is sent without a user name") {
    const RedisServer server{{"--requirepass", "secret"}};
    LinkScene scene{{.addresses = {server.address()}, .password = "secret"}};
    CHECK(scene.ask_echo("in") == "in");
}

TEST_CASE("link: an idle link sends few commands") {
    const RedisServer server;
    LinkScene scene{server};
    scene.await_connected();
    RedisClient eye{server.address()};
    const auto commands = [&] {
        const auto stats = eye.command({"INFO", "stats"}).text;
        return std::atoi(redis_info(stats, "total_commands_processed").c_str());
    };
    const auto before = commands();
    std::this_thread::sleep_for(std::chrono::milliseconds{1'500});
    CHECK(commands() - before <= 2);  // One of them is the second INFO.
}

TEST_CASE("link: destroying the link takes a short time and completes every call") {
    RedisServer server;
    std::vector<std::string> answers;
    const auto keep = [&](const auto& answer) { answers.push_back(dump(answer)); };
    Stopwatch watch;
    {
        TcpGate gate{server.port()};
        LinkScene scene{{.addresses = {{"127.0.0.1", gate.port()}}}};
        scene.await_connected();
        server.pause();
        const auto before = gate.bytes_to_server();
        std::vector<redis::Call> calls;
        for (int i = 0; i < 3; ++i) calls.push_back(LinkScene::call(echo, {}, "x", keep));
        scene.link.send(calls);
        REQUIRE(await([&] { return gate.bytes_to_server() > before; }));
        watch = {};
    }
    CHECK(watch.elapsed() < Duration{1'000});
    CHECK(answers == std::vector<std::string>(3, "timed out: the store was closed"));
    server.resume();
    server.stop();

    answers.clear();
    {
        LinkScene scene{server};
        std::vector<redis::Call> calls;
        for (int i = 0; i < 3; ++i) calls.push_back(LinkScene::call(echo, {}, "x", keep));
        scene.link.send(calls);
        watch = {};
    }
    CHECK(watch.elapsed() < Duration{1'000});
    CHECK(answers == std::vector<std::string>(3, "cancelled: the store was closed"));
}

namespace {

/// Returns its arguments after the first as a list. An argument `bad` becomes an error, and `short`
/// adds nothing.
const redis::Script echo_all = make_script("echo_all", R"(
    local all = {}
    for i = 2, #ARGV do
        if ARGV[i] == 'bad' then all[#all + 1] = redis.error_reply('INVALID bad')
        elseif ARGV[i] ~= 'short' then all[#all + 1] = ARGV[i] end
    end
    redis.call('INCR', 'runs')
    return all)");

/// Sends calls with an equal first argument, which can travel together. Returns their results in
/// the order of the calls. The results may arrive in any order; refusals arrive in this thread.
std::vector<std::string> ask_together(LinkScene& scene, const std::vector<std::string>& texts) {
    std::vector<redis::Call> calls;
    std::vector<std::future<std::string>> answers;
    for (const auto& text : texts) {
        const auto promise = std::make_shared<std::promise<std::string>>();
        answers.push_back(promise->get_future());
        auto& call = calls.emplace_back(LinkScene::call(
            echo, {}, "shared",
            [promise](const redis::CallResult& answer) { promise->set_value(dump(answer)); }));
        call.arguments.begin_own().add(text);
        call.joint = &echo_all;
    }
    scene.link.send(calls);
    std::vector<std::string> results;
    for (auto& answer : answers) results.push_back(LinkScene::end(std::move(answer)));
    return results;
}

}  // namespace

TEST_CASE("link: waiting calls are sent in one call, and each gets its own reply") {
    const RedisServer server;
    LinkScene scene{server};
    const std::vector<std::string> texts{"one", "bad", "three"};
    const std::vector<std::string> replies{"one", "invalid: bad", "three"};
    // At first the server does not know the script.
    CHECK(ask_together(scene, texts) == replies);
    CHECK(server.command({"GET", "runs"}).text == "1");
    server.command({"SCRIPT", "FLUSH"});
    CHECK(ask_together(scene, texts) == replies);
    CHECK(server.command({"GET", "runs"}).text == "2");
    // A single call runs its own script.
    CHECK(ask_together(scene, {"bad"}) == std::vector<std::string>{"shared"});
    CHECK(ask_together(scene, {"one", "short"}) ==
          std::vector<std::string>(
              2, "corrupted: the server's reply does not have an entry for each call"));
    CHECK(ask_together(scene, std::vector<std::string>(1'000, "x")) ==
          std::vector<std::string>(1'000, "x"));
}

TEST_CASE("link: calls sent in one call count singly towards the limit of waiting calls") {
    RedisServer server;
    LinkScene scene{
        RedisOptions{.addresses = {server.address()}, .timeout = Duration{300}, .waiting_max = 4}};
    scene.await_connected();
    const std::vector<std::string> texts{"1", "2", "3", "4", "5"};
    const std::vector<std::string> results{"1", "2", "3", "4",
                                           "unavailable: too many steps wait for the server"};
    for (int round = 0; round < 3; ++round) {
        CHECK(ask_together(scene, texts) == results);
    }
    server.pause();
    CHECK(ask_together(scene, texts).front() == "timed out: no reply in time");
    server.resume();
    CHECK(ask_together(scene, texts) == results);
}

TEST_CASE("link: an idle server is listened to without a break") {
    const RedisServer server;
    LinkScene scene{server, Duration{200}};
    scene.await_connected();
    std::this_thread::sleep_for(Duration{1'000});
    CHECK(scene.log.count(LogLevel::warning, "cannot subscribe") == 0);
    CHECK(scene.heard.await(1).size() == 1);
}

TEST_CASE("link: inconsistent options are refused") {
    const auto refused = [](RedisOptions options) {
        try {
            const redis::Link link{std::move(options), "wake", [](std::string_view) {}};
        } catch (const Failure& failure) {
            return failure.error().message();
        }
        return std::string{"taken"};
    };
    CHECK(refused({.addresses = {}}) == "addresses: must not be empty: invalid");
    CHECK(refused({.timeout = Duration{0}}) == "timeout: must be positive: invalid");
    CHECK(refused({.tls = true, .tls_ca_file = "no/such/file"}).starts_with("tls_ca_file"));
}

TEST_CASE("link: a script whose SHA-1 is given wrongly still runs") {
    const RedisServer server;
    LinkScene scene{server};
    const redis::Script wrong{"wrong", "return ARGV[1]", append.sha1};
    CHECK(scene.ask(wrong, {}, "x") == "x");
}
