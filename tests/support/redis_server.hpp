/// @file
/// `RedisServer`: a real Redis server in a separate process.

#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "routemaster/store/redis.hpp"
#include "support/process.hpp"
#include "support/redis_client.hpp"
#include "support/temporary_folder.hpp"

namespace routemaster::test {

/// `redis-server` on a free port of 127.0.0.1, by default without files. The destructor kills the
/// server, as does the end of the thread that started the server.
class RedisServer {
public:
    /// Starts the server with further arguments, for example `{"--requirepass", "secret"}`, and
    /// waits for its first reply. `configuration` is the text of a configuration file, which
    /// `--sentinel` needs.
    explicit RedisServer(std::vector<std::string> arguments = {}, std::string configuration = {});

    /// Starts the server on its former port, after `stop` or `kill`. With `wait`, waits for its
    /// first reply.
    void start(bool wait = true);

    /// Asks the server to stop, and waits for its end.
    void stop();
    /// Kills the server, as a power cut does, and waits for its end.
    void kill();

    /// Suspends the process until `resume`, to simulate a dead machine.
    void pause() { process_->signal(SIGSTOP); }
    void resume() { process_->signal(SIGCONT); }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] RedisAddress address() const { return {"127.0.0.1", port_}; }
    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

    /// Sends one command on a new connection.
    RedisReply command(const std::vector<std::string>& words) const {
        return redis_command(address(), words);
    }
    /// The value of a line of INFO.
    [[nodiscard]] std::string info(const std::string& name) const {
        return redis_info(command({"INFO", "everything"}).text, name);
    }

private:
    void spawn();
    [[nodiscard]] bool spawn_and_wait();
    [[nodiscard]] std::filesystem::path log_file() const { return folder() / "redis.log"; }
    [[nodiscard]] bool answers() const;
    [[nodiscard]] std::string log() const;

    TemporaryFolder folder_;
    std::vector<std::string> arguments_;
    std::string configuration_;
    std::uint16_t port_ = 0;
    std::unique_ptr<Process> process_;
};

}  // namespace routemaster::test
