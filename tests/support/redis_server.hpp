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

/// A port of this machine at which nobody listens, from below those that the kernel gives to
/// sockets that connect.
[[nodiscard]] std::uint16_t free_port();

/// `redis-server` on a port of its own at 127.0.0.1, keeping nothing on disk unless told to. Its
/// destructor kills it, as does the end of the thread that started it.
class RedisServer {
public:
    /// Starts it with further arguments, as `{"--requirepass", "secret"}`, and waits until it
    /// answers. `configuration` is a file's text; `--sentinel` among the arguments needs one.
    explicit RedisServer(std::vector<std::string> arguments = {}, std::string configuration = {});

    /// Starts it again at the same port, after `stop` or `kill`, and waits until it answers unless
    /// told otherwise.
    void start(bool wait = true);

    /// Asks it to end, and waits until it is gone.
    void stop();
    /// Ends it as a power cut would, and waits until it is gone.
    void kill();

    /// Stops its process, as if its machine had died without a word, until `resume`.
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
