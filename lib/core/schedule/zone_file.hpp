/// @file
/// `ZoneFile`: the parsed content of a time zone file.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/schedule/zone_period.hpp"
#include "core/schedule/zone_rule.hpp"

namespace routemaster::detail {

/// A file in TZif format (RFC 9636), parsed. It lists the changes of a zone's offset, and has a
/// rule for later years. `zic -b fat` lists the changes until 2037; `zic -b slim` lists only
/// changes that do not follow the rule.
class ZoneFile {
public:
    /// Whether the bytes begin with the signature of the format.
    static bool is(std::string_view bytes) { return bytes.starts_with("TZif"); }

    /// Parses a file. Nothing if the bytes are not a valid file, or have leap seconds, such as the
    /// files in the folder `right/`.
    static std::optional<ZoneFile> parse(std::string_view bytes);

    /// The period with a constant offset that contains an instant; see `ZoneRule::at`.
    [[nodiscard]] ZonePeriod at(UnixSeconds instant) const;

private:
    class Parser;

    std::int64_t first_offset_ = 0;
    std::vector<ZoneStep> steps_;
    /// When the last listed change happens, even if it changes only the zone's abbreviation. The
    /// rule applies from then on.
    std::optional<UnixSeconds> listed_until_;
    std::optional<ZoneRule> rule_;  ///< Empty: the last offset applies for ever.
};

}  // namespace routemaster::detail
