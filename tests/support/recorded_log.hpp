/// @file
/// `RecordedLog`: a log for a test to inspect.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "routemaster/log.hpp"

namespace routemaster::test {

/// Records log lines. Copies share the lines. Thread safe.
class RecordedLog {
public:
    /// The log for the object under test.
    [[nodiscard]] Log sink() const {
        return [lines = lines_](LogLevel level, std::string_view text) {
            const std::lock_guard lock{lines->mutex};
            lines->all.emplace_back(level, text);
        };
    }

    /// The number of lines of a level that contain `part`.
    [[nodiscard]] std::size_t count(LogLevel level, std::string_view part) const {
        const std::lock_guard lock{lines_->mutex};
        return static_cast<std::size_t>(
            std::count_if(lines_->all.begin(), lines_->all.end(), [&](const auto& line) {
                return line.first == level && line.second.find(part) != std::string::npos;
            }));
    }

private:
    struct Lines {
        std::mutex mutex;  // Guards `all`.
        std::vector<std::pair<LogLevel, std::string>> all;
    };

    std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

}  // namespace routemaster::test
