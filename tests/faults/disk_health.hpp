/// @file
/// `DiskHealth`: waits for log lines of an embedded store about its disk.

#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

#include "routemaster/log.hpp"
#include "testing/conformance/threads.hpp"

namespace routemaster::test {

/// Provides the store's log. Must outlive the store.
class DiskHealth {
public:
    [[nodiscard]] Log log() {
        return [this](LogLevel, std::string_view text) {
            if (text.find("cannot write the journal") != std::string::npos) failed_.raise();
            if (text.find("the store works again") != std::string::npos) healed_.raise();
        };
    }

    /// The number of failures of the disk so far.
    [[nodiscard]] std::uint64_t failures() const { return failed_.count(); }

    void wait_for_failure() const { REQUIRE(failed_.wait_beyond(0, timeout)); }

    /// Waits until the store has recovered as often as the disk failed.
    void wait_until_healed() const { REQUIRE(healed_.wait_beyond(failed_.count() - 1, timeout)); }

private:
    static constexpr Duration timeout{20'000};

    testing::Signal failed_;
    testing::Signal healed_;
};

}  // namespace routemaster::test
