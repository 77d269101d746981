/// @file
/// Limits log lines that clients can cause at will.

#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/log.hpp"

namespace routemaster::detail {

/// Logs the first complaint at once, and those of the next second as one line with their number:
/// `TEXT, the last of 1234`. So nobody can fill a disk with refused requests.
///
/// Thread safety: all members from any thread, the destructor from one. It never throws, and writes
/// to the log under its lock, which keeps the lines in order.
class Complaints {
public:
    /// Every line begins with `beginning`.
    Complaints(Log log, LogLevel level, std::string beginning)
        : log_{std::move(log)}, level_{level}, beginning_{std::move(beginning)} {}

    /// Logs the deferred complaints.
    ~Complaints();

    Complaints(const Complaints&) = delete;
    Complaints& operator=(const Complaints&) = delete;

    void log(std::string_view text) noexcept;

    /// Logs the deferred complaints, if they are due. Returns whether some still wait.
    bool flush() noexcept;

    /// How long complaints are deferred.
    static constexpr std::chrono::seconds pause{1};

private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    void log_held(SteadyTime now) noexcept;

    const Log log_;
    const LogLevel level_;
    const std::string beginning_;
    std::mutex mutex_;  ///< Guards everything below.
    std::string last_;
    std::size_t held_ = 0;
    SteadyTime next_{};  ///< When the next line may be logged.
};

}  // namespace routemaster::detail
