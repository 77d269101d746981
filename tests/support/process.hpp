/// @file
/// `Process`: a program under the control of a test.

#pragma once

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/secrets.hpp"

namespace routemaster::test {

/// A child process. The destructor kills a running process. Calls throw `std::runtime_error` at the
/// timeout.
///
/// The destructor fails the test if standard error contains a secret, see `secret_in`.
///
/// The environment of the process is the environment of the test without the variables of the
/// program under test, plus the given variables.
class Process {
public:
    using Environment = std::map<std::string, std::string>;

    explicit Process(const std::vector<std::string>& command, const Environment& environment = {},
                     std::string_view input = {})
        : name_{command.at(0)} {
        int output[2];
        int standard_input[2];
        errors_ = std::tmpfile();
        if (errors_ == nullptr || pipe2(output, O_CLOEXEC) != 0 ||
            pipe2(standard_input, O_CLOEXEC) != 0) {
            throw std::runtime_error{"cannot make pipes"};
        }
        output_ = output[0];
        spawn(command, environment, standard_input[0], output[1]);
        ::close(output[1]);
        ::close(standard_input[0]);
        feed(standard_input[1], input);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(output_);
        check_secrets();
        std::fclose(errors_);
    }

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// Adds further secrets.
    void keeps_secret(std::vector<std::string> tokens) { tokens_ = std::move(tokens); }

    void signal(int number) const { ::kill(pid_, number); }

    /// The next line of output, without the line end. Throws when there is none.
    std::string line() {
        std::size_t end = 0;
        while ((end = text_.find('\n', read_)) == std::string::npos) {
            if (!fill()) throw std::runtime_error{name_ + " ended: " + errors()};
        }
        auto line = text_.substr(read_, end - read_);
        read_ = end + 1;
        return line;
    }

    /// Waits for the end. Returns the exit status, or 128 plus the signal that killed the process.
    int wait() {
        while (fill()) {
        }
        int status = 0;
        ::waitpid(std::exchange(pid_, 0), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    /// The output read so far; the complete output after `wait`.
    [[nodiscard]] const std::string& output() const noexcept { return text_; }

    /// The standard error so far.
    [[nodiscard]] std::string errors() const {
        std::string text;
        char chunk[4096];
        for (ssize_t got = 0, at = 0; (got = pread(fileno(errors_), chunk, sizeof chunk, at)) > 0;
             at += got) {
            text.append(chunk, static_cast<std::size_t>(got));
        }
        return text;
    }

    /// Waits until standard error contains `text`. Returns false at the timeout.
    [[nodiscard]] bool await_error(std::string_view text) const {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        while (errors().find(text) == std::string::npos) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            // There is no notification about changes of a file.
            ::usleep(2'000);
        }
        return true;
    }

private:
    static constexpr std::chrono::milliseconds timeout{30'000};

    static bool is_read_by_the_program(std::string_view setting) {
        for (const std::string_view beginning :
             {"ROUTEMASTER_", "PORT=", "MAX_BACKOFF_MS=", "REDIS_ENV_KEY=",
              "METRIC_COLLECTION_SERVICE=", "RACK_ENV="}) {
            if (setting.starts_with(beginning)) return true;
        }
        return false;
    }

    void check_secrets() const {
        const auto log = errors();
        const auto secret = secret_in(log, tokens_);
        CHECK_MESSAGE(secret.empty(), name_, " shows '", secret, "': ", log);
    }

    void spawn(const std::vector<std::string>& command, const Environment& environment, int input,
               int output) {
        std::vector<std::string> settings;
        for (char** each = environ; *each != nullptr; ++each) {
            if (!is_read_by_the_program(*each)) settings.emplace_back(*each);
        }
        for (const auto& [key, value] : environment) settings.push_back(key + '=' + value);

        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&files, fileno(errors_), STDERR_FILENO);
        // The parent may ignore interrupts and hang-ups. The program must not inherit this.
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t defaults;
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGHUP);
        sigaddset(&defaults, SIGINT);
        sigaddset(&defaults, SIGPIPE);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        const int failed = posix_spawnp(&pid_, command.at(0).c_str(), &files, &attributes,
                                        pointers(command).data(), pointers(settings).data());
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        if (failed != 0) {
            pid_ = 0;
            throw std::runtime_error{"cannot start " + name_};
        }
    }

    static std::vector<char*> pointers(const std::vector<std::string>& texts) {
        std::vector<char*> list;
        for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
        list.push_back(nullptr);
        return list;
    }

    /// Writes the input. It must fit into the pipe, unless the program reads it meanwhile.
    static void feed(int to, std::string_view input) {
        while (!input.empty()) {
            const auto written = ::write(to, input.data(), input.size());
            if (written <= 0) break;
            input.remove_prefix(static_cast<std::size_t>(written));
        }
        ::close(to);
    }

    /// Reads more output. Returns false at its end.
    bool fill() {
        pollfd watched{output_, POLLIN, 0};
        if (::poll(&watched, 1, static_cast<int>(timeout.count())) != 1) {
            throw std::runtime_error{name_ + " is silent: " + errors()};
        }
        char chunk[4096];
        const auto got = ::read(output_, chunk, sizeof chunk);
        if (got <= 0) return false;
        text_.append(chunk, static_cast<std::size_t>(got));
        return true;
    }

    std::string name_;
    pid_t pid_ = 0;
    int output_ = -1;
    std::FILE* errors_ = nullptr;
    std::string text_;
    std::size_t read_ = 0;
    std::vector<std::string> tokens_;
};

}  // namespace routemaster::test
