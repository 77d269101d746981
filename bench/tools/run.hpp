/// @file
/// Helpers for programs that drive a store: waiting for the end of a run that continues in
/// completions, and printing the result.

#pragma once

#include <sys/resource.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <iostream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "routemaster/log.hpp"

namespace bench {

/// The end of a run: success, or the description of a failure.
///
/// Thread safety: all members may be called from any thread.
class Finish {
public:
    void reached() { end({}); }
    void failed(const std::string& why) { end(why); }

    /// Waits for the end. Throws on a failure.
    void wait() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return failure_.has_value(); });
        if (!failure_->empty()) throw std::runtime_error{*failure_};
    }

private:
    void end(const std::string& failure) {
        const std::lock_guard lock{mutex_};
        if (!failure_) failure_ = failure;
        changed_.notify_all();
    }

    std::mutex mutex_;  // Guards the next members.
    std::condition_variable changed_;
    std::optional<std::string> failure_;  // Empty on success.
};

/// The processor time used by this process.
inline double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Calls `work` and prints one JSON line: the number of operations, their duration, and the
/// processor time of this process. `further` is appended to the line.
template <class Work>
void measure(std::uint64_t count, Work work, const std::function<std::string()>& further = {}) {
    const auto cpu_before = cpu_seconds();
    const auto begun = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    const auto cpu = cpu_seconds() - cpu_before;
    std::cout << R"({"count":)" << count << R"(,"seconds":)" << seconds.count()
              << R"(,"cpu_seconds":)" << cpu << (further ? further() : "") << "}" << std::endl;
}

/// Writes warnings and errors to standard error.
inline void warn(routemaster::LogLevel level, std::string_view text) {
    if (level >= routemaster::LogLevel::warning) std::cerr << text << '\n';
}

}  // namespace bench
