/// @file
/// `ZoneFile`: a file of the time zone database.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/schedule/zone_period.hpp"
#include "core/schedule/zone_rule.hpp"

namespace routemaster::detail {

/// The content of a file in TZif format (RFC 9636): the steps of a zone, and the rule for later
/// times. `zic -b fat` lists the steps until 2037; `zic -b slim` lists only steps outside of the
/// rule.
class ZoneFile {
public:
    /// Whether the bytes begin like this format.
    static bool is(std::string_view bytes) { return bytes.starts_with("TZif"); }

    /// Nothing for other bytes, and for files with leap seconds, such as the files of `right/`.
    static std::optional<ZoneFile> parse(std::string_view bytes);

    /// The period of an instant; see `ZoneRule::at`.
    [[nodiscard]] ZonePeriod at(UnixSeconds instant) const;

private:
    class Parser;

    std::int64_t first_offset_ = 0;
    std::vector<ZoneStep> steps_;  ///< In order. Each changes the offset.
    /// The last step of the file, which may change only the zone's name. The rule applies from
    /// there.
    std::optional<UnixSeconds> listed_until_;
    std::optional<ZoneRule> rule_;  ///< Empty: the last offset lasts for ever.
};

}  // namespace routemaster::detail
