/// @file
/// A real Redis server, as a process of its own.

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

/// `redis-server` on a port of its own at 127.0.0.1, by default without files. Its destructor kills
/// it, as does the end of the thread that started it.
class RedisServer {
public:
    /// Starts it with further arguments, such as `{"--requirepass", "secret"}`, and waits until it
    /// replies. `configuration` is the text of a file; the argument `--sentinel` needs one.
    explicit RedisServer(std::vector<std::string> arguments = {}, std::string configuration = {});

    /// Starts it again on the same port, after `stop` or `kill`, and by default waits until it
    /// replies.
    void start(bool wait = true);

    /// Asks it to end, and waits until it is gone.
    void stop();
    /// Kills it, as at a power cut, and waits until it is gone.
    void kill();

    /// Suspends its process, as if its machine had died, until `resume`.
    void pause() { process_->signal(SIGSTOP); }
    void resume() { process_->signal(SIGCONT); }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] RedisAddress address() const { return {"127.0.0.1", port_}; }
    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

    /// One command, over a connection of its own.
    RedisReply command(const std::vector<std::string>& words) const {
        return redis_command(address(), words);
    }
    /// A line of INFO.
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
