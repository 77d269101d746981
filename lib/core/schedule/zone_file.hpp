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

/// What a file in the format TZif (RFC 9636) says: the steps of a zone, and the rule behind the
/// last of them. `zic -b fat` lists the steps until 2037, `zic -b slim` those alone that the rule
/// does not tell.
class ZoneFile {
public:
    /// Whether bytes claim to be of the format.
    static bool is(std::string_view bytes) { return bytes.starts_with("TZif"); }

    /// Nothing when bytes are no such file, or count leap seconds, as those of `right/` do.
    static std::optional<ZoneFile> parse(std::string_view bytes);

    /// The period of an instant; see `ZoneRule::at`.
    [[nodiscard]] ZonePeriod at(UnixSeconds instant) const;

private:
    class Parser;

    std::int64_t first_offset_ = 0;
    std::vector<ZoneStep> steps_;  ///< From the first to the last. Each changes the offset.
    /// The last step of the file, which may change only the zone's name. The rule holds from there.
    std::optional<UnixSeconds> listed_until_;
    std::optional<ZoneRule> rule_;  ///< None: the last offset lasts.
};

}  // namespace routemaster::detail
