/// @file
/// Log lines that clients can cause at will.

#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "routemaster/log.hpp"

namespace routemaster::detail {

/// Logs the first complaint at once, and those of the second that follows as one line that counts
/// them: `TEXT, the last of 1234`. So nobody fills a disk with refused requests.
///
/// Thread safety: all members from any thread, the destructor from one. It never throws, and the
/// log is told under its lock: lines come in their order.
class Complaints {
public:
    /// Every line begins with `beginning`.
    Complaints(Log log, LogLevel level, std::string beginning)
        : log_{std::move(log)}, level_{level}, beginning_{std::move(beginning)} {}

    /// Logs what was held back.
    ~Complaints();

    Complaints(const Complaints&) = delete;
    Complaints& operator=(const Complaints&) = delete;

    void log(std::string_view text) noexcept;

    /// Logs what was held back, if its time has come. Whether something still is.
    bool flush() noexcept;

    /// How long complaints are held back.
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
