/// @file
/// `Complaints`: rate limiter for log messages that clients can cause.

#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/log.hpp"

namespace routemaster::detail {

/// Logger that writes a first message at once, and the messages of the next second as one line,
/// with the last text and their number: `TEXT, the last of 1234`. Otherwise clients could fill the
/// disk by requests that are rejected.
///
/// Thread safe, except for the destructor. No member throws. The log callback is called under a
/// lock, which keeps the messages in order.
class Complaints {
public:
    /// Each line begins with `beginning`.
    Complaints(Log log, LogLevel level, std::string beginning)
        : log_{std::move(log)}, level_{level}, beginning_{std::move(beginning)} {}

    ~Complaints();

    Complaints(const Complaints&) = delete;
    Complaints& operator=(const Complaints&) = delete;

    void log(std::string_view text) noexcept;

    /// Logs the deferred messages if they are due. Returns whether messages are still deferred.
    bool flush() noexcept;

    static constexpr std::chrono::seconds pause{1};

private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    void log_held(SteadyTime now) noexcept;

    const Log log_;
    const LogLevel level_;
    const std::string beginning_;
    std::mutex mutex_;  ///< Guards the members below.
    std::string last_;
    std::size_t held_ = 0;
    SteadyTime next_{};  ///< When the next line may be logged.
};

}  // namespace routemaster::detail
