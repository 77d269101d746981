/// @file
/// `Complaints`: limits the rate of log messages that clients can cause.

#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/log.hpp"

namespace routemaster::detail {

/// Logs the first complaint at once. Logs the complaints of the next second as one message, with
/// the last text and their number: `TEXT, the last of 1234`. Without the limit, clients could fill
/// the disk with refused requests.
///
/// Thread safe, except for the destructor. No member throws. The log is called under a lock, which
/// keeps the messages in order.
class Complaints {
public:
    /// Each message begins with `beginning`.
    Complaints(Log log, LogLevel level, std::string beginning)
        : log_{std::move(log)}, level_{level}, beginning_{std::move(beginning)} {}

    /// Logs the deferred complaints.
    ~Complaints();

    Complaints(const Complaints&) = delete;
    Complaints& operator=(const Complaints&) = delete;

    void log(std::string_view text) noexcept;

    /// Logs the deferred complaints if they are due. True if complaints are still deferred.
    bool flush() noexcept;

    /// How long complaints are deferred.
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
    SteadyTime next_{};  ///< When the next message may be logged.
};

}  // namespace routemaster::detail
