/// @file
/// `RunningBus`: the real bus in a separate process.

#pragma once

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/bus_front.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"

namespace routemaster::test {

/// The program under test.
inline const std::string routemaster_binary = program(ROUTEMASTER_BINARY);

/// A command under limits of the shell's `ulimit`, for example `-n 64`.
inline std::vector<std::string> limited(const std::string& limits,
                                        const std::vector<std::string>& command) {
    std::vector<std::string> words{"sh", "-c", "ulimit " + limits + " && exec \"$@\"", "sh"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

/// A bus on a free port. It accepts the root key, the clients `shop`, `billing`, `audit` and
/// `search`, and plain http callbacks on this machine.
class RunningBus : public BusFront {
public:
    /// Starts the bus with its data in `folder`, and waits until it listens. `limits`: see
    /// `limited`.
    explicit RunningBus(std::filesystem::path folder, std::vector<std::string> flags = {},
                        Process::Environment environment = {}, std::string limits = {})
        : folder_{std::move(folder)},
          flags_{std::move(flags)},
          environment_{std::move(environment)},
          limits_{std::move(limits)} {
        start();
    }

    /// Starts the bus again, after `kill` or `stop`. The port may change.
    void start() {
        process_ = std::make_unique<Process>(
            limits_.empty() ? command() : limited(limits_, command()), environment_);
        process_->keeps_secret(clients);
        listens_at(announced_port(process_->line()));
    }

    /// The command line of the bus.
    [[nodiscard]] std::vector<std::string> command() const {
        std::vector<std::string> words{routemaster_binary,
                                       "serve",
                                       "--listen",
                                       "127.0.0.1:0",
                                       "--data-dir",
                                       folder_.string(),
                                       "--root-key",
                                       root_key,
                                       "--clients",
                                       "shop,billing,audit,search",
                                       "--allow-http-callbacks"};
        words.insert(words.end(), flags_.begin(), flags_.end());
        return words;
    }

    [[nodiscard]] Process& process() noexcept { return *process_; }

    /// Kills the bus, as a power cut does, and waits until it has ended.
    void kill() {
        process_->signal(SIGKILL);
        process_->wait();
    }

    /// Asks the bus to stop, and waits. Returns the exit status.
    int stop(int signal = SIGTERM) {
        process_->signal(signal);
        return process_->wait();
    }

private:
    std::filesystem::path folder_;
    std::vector<std::string> flags_;
    Process::Environment environment_;
    std::string limits_;
    std::unique_ptr<Process> process_;
};

}  // namespace routemaster::test
