/// @file
/// The processes of a distributed bus.

#pragma once

#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/bus_front.hpp"
#include "support/process.hpp"
#include "support/programs.hpp"

namespace routemaster::test {

/// The programs under test.
inline const std::string web_binary = program(ROUTEMASTER_WEB_BINARY);
inline const std::string worker_binary = program(ROUTEMASTER_WORKER_BINARY);

/// A `routemaster-web` on a free port. It accepts the root key, the clients `shop`, `billing`,
/// `audit` and `search`, and plain http callbacks on this machine.
class RunningWeb : public BusFront {
public:
    /// Starts the process on the store with this URL, and waits for the line that announces its
    /// listener.
    explicit RunningWeb(const std::string& store, std::vector<std::string> flags = {}) {
        std::vector<std::string> command{web_binary,
                                         "--listen",
                                         "127.0.0.1:0",
                                         "--store",
                                         store,
                                         "--root-key",
                                         root_key,
                                         "--clients",
                                         "shop,billing,audit,search",
                                         "--allow-http-callbacks"};
        command.insert(command.end(), flags.begin(), flags.end());
        process_ = std::make_unique<Process>(command);
        process_->keeps_secret(clients);
        listens_at(announced_port(process_->line()));
    }

    [[nodiscard]] Process& process() noexcept { return *process_; }

private:
    std::unique_ptr<Process> process_;
};

/// A `routemaster-worker` that accepts plain http callbacks on this machine.
class RunningWorker {
public:
    /// Starts the process on the store with this URL, and waits until it works.
    explicit RunningWorker(const std::string& store, std::vector<std::string> flags = {},
                           const Process::Environment& environment = {}) {
        std::vector<std::string> command{worker_binary, "--store", store, "--allow-http-callbacks"};
        command.insert(command.end(), flags.begin(), flags.end());
        process_ = std::make_unique<Process>(command, environment);
        process_->keeps_secret(clients);
        if (!process_->await_error("INFO: started on ")) {
            throw std::runtime_error{"the worker does not start: " + process_->errors()};
        }
    }

    [[nodiscard]] Process& process() noexcept { return *process_; }

    /// Kills the process, as a power cut does, and waits for its end.
    void kill() {
        process_->signal(SIGKILL);
        process_->wait();
    }

    /// Asks the process to stop, and waits. Returns the exit status.
    int stop(int signal = SIGTERM) {
        process_->signal(signal);
        return process_->wait();
    }

private:
    std::unique_ptr<Process> process_;
};

}  // namespace routemaster::test
