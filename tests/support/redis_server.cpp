#include "support/redis_server.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "support/await.hpp"
#include "support/free_port.hpp"

namespace routemaster::test {

RedisServer::RedisServer(std::vector<std::string> arguments, std::string configuration)
    : arguments_{std::move(arguments)}, configuration_{std::move(configuration)} {
    constexpr int attempts = 5;
    for (int i = 0; i < attempts; ++i) {
        port_ = free_port();
        if (spawn_and_wait()) return;
        // Possibly the cluster bus port was in use.
        const auto bus = std::find(arguments_.begin(), arguments_.end(), "--cluster-port");
        if (bus != arguments_.end()) *std::next(bus) = std::to_string(free_port());
    }
    throw std::runtime_error{"redis-server does not start: " + log()};
}

/// Starts the process and waits until it replies. Returns false when another process has taken the
/// port meanwhile.
bool RedisServer::spawn_and_wait() {
    spawn();
    bool taken = false;
    const bool settled = await([&] {
        // A reply alone is no proof: another process may have the port.
        const auto text = log();
        const auto says = [&](const char* part) { return text.find(part) != std::string::npos; };
        taken = says("Address already in use");
        return taken || ((says("Ready to accept") || says("Sentinel ID is")) && answers());
    });
    if (!settled) throw std::runtime_error{"redis-server does not answer: " + log()};
    if (taken) process_.reset();
    return !taken;
}

void RedisServer::spawn() {
    std::ofstream{log_file()}.close();
    // Without this, the server would survive a test that is killed at its timeout.
    std::vector<std::string> command{"setpriv", "--pdeathsig", "KILL", "redis-server"};
    if (!configuration_.empty()) {
        const auto file = folder() / "redis.conf";
        std::ofstream{file} << configuration_;
        command.push_back(file.string());
    }
    for (const auto& word : std::vector<std::string>{
             "--port", std::to_string(port_), "--bind", "127.0.0.1", "--dir", folder().string(),
             "--logfile", log_file().string(), "--save", ""}) {
        command.push_back(word);
    }
    command.insert(command.end(), arguments_.begin(), arguments_.end());
    process_ = std::make_unique<Process>(command);
}

void RedisServer::start(bool wait) {
    if (!wait) return spawn();
    if (!spawn_and_wait()) throw std::runtime_error{"redis-server does not start: " + log()};
}

void RedisServer::stop() {
    process_->signal(SIGTERM);
    process_->wait();
}

void RedisServer::kill() {
    process_->signal(SIGKILL);
    process_->wait();
}

/// Whether the server replies, possibly with an error about a password.
bool RedisServer::answers() const {
    try {
        return command({"PING"}).text == "PONG";
    } catch (const RedisFailure& failure) {
        const std::string_view text = failure.what();
        return text.starts_with("NOAUTH") || text.starts_with("MASTERDOWN");
    }
}

std::string RedisServer::log() const {
    std::ifstream file{log_file()};
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace routemaster::test
