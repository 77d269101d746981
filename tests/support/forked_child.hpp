/// @file
/// Runs a part of a test in a forked child.

#pragma once

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/error.hpp"

namespace routemaster::test {

/// How a child ends after its work.
enum class ChildEnd {
    at_once,        ///< By `_exit`.
    after_statics,  ///< By `exit`, which destroys static objects.
};

/// The report of a child about its work and its end.
struct ChildReport {
    std::string text;    ///< The result of the work, or the text of an exception from the work.
    std::string errors;  ///< The child's standard error.
    int status = -1;     ///< As from `waitpid`; -1 when the child hung and was killed.

    [[nodiscard]] bool exited() const { return status >= 0 && WIFEXITED(status); }
    [[nodiscard]] bool aborted() const {
        return status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    }
};

/// The code and the text of an error.
inline std::string text_of(const Error& error) {
    return (error.code() == Errc::invalid ? "invalid: " : "another code: ") + error.context();
}

/// The text of the exception that a call throws.
inline std::string thrown_by(const std::function<void()>& call) {
    try {
        call();
    } catch (const Failure& failure) {
        return text_of(failure.error());
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing";
}

/// Reads from pipes until all writers have closed them, and closes them. Returns false after a
/// minute.
inline bool read_to_end(const std::vector<std::pair<int, std::string*>>& pipes) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    std::vector<pollfd> polled;
    for (const auto& [descriptor, text] : pipes) polled.push_back({descriptor, POLLIN, 0});
    for (std::size_t open = pipes.size(); open > 0;) {
        if (std::chrono::steady_clock::now() > deadline) break;
        if (::poll(polled.data(), polled.size(), 1'000) <= 0) continue;
        for (std::size_t i = 0; i < polled.size(); ++i) {
            if (polled[i].revents == 0) continue;
            std::array<char, 4'096> buffer{};
            const auto count = ::read(polled[i].fd, buffer.data(), buffer.size());
            if (count > 0) {
                pipes[i].second->append(buffer.data(), static_cast<std::size_t>(count));
            } else {
                polled[i].fd = -1;
                --open;
            }
        }
    }
    for (const auto& [descriptor, text] : pipes) ::close(descriptor);
    return std::all_of(polled.begin(), polled.end(), [](const auto& any) { return any.fd < 0; });
}

/// Reads a pipe for at most a minute.
inline std::string read_all(int descriptor) {
    std::string all;
    static_cast<void>(read_to_end({{descriptor, &all}}));
    return all;
}

/// Whether a child of a multi-threaded process may start threads. The thread sanitizer forbids it.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool child_may_start_threads = false;
#elif defined(__has_feature)
inline constexpr bool child_may_start_threads = !__has_feature(thread_sanitizer);
#else
inline constexpr bool child_may_start_threads = true;
#endif

/// Forks, and runs `work` in the child. Kills the child after a minute.
inline ChildReport in_child(const std::function<std::string()>& work,
                            ChildEnd end = ChildEnd::at_once) {
    std::array<int, 2> texts{};
    std::array<int, 2> errors{};
    if (::pipe(texts.data()) != 0 || ::pipe(errors.data()) != 0) return {};
    std::cout.flush();
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) return {};
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);
        ::close(texts[0]);
        ::close(errors[0]);
        ::dup2(errors[1], STDERR_FILENO);
        std::string text;
        try {
            text = work();
        } catch (const std::exception& error) {
            text = std::string{"threw: "} + error.what();
        }
        static_cast<void>(!::write(texts[1], text.data(), text.size()));
        if (end == ChildEnd::at_once) ::_exit(0);
        std::exit(0);
    }
    ::close(texts[1]);
    ::close(errors[1]);
    ChildReport report;
    const bool ended = read_to_end({{texts[0], &report.text}, {errors[0], &report.errors}});
    if (!ended) ::kill(child, SIGKILL);
    ::waitpid(child, &report.status, 0);
    if (!ended) report.status = -1;
    return report;
}

}  // namespace routemaster::test
