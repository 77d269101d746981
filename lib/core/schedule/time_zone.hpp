/// @file
/// Time zones of the machine's database.

#pragma once

#include <memory>
#include <string_view>

#include "core/schedule/cron_fields.hpp"
#include "core/schedule/zone_file.hpp"
#include "core/schedule/zone_period.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

inline constexpr std::string_view zone_folder = "/usr/share/zoneinfo";

/// A time zone.
///
/// Thread safety: a value.
class TimeZone {
public:
    /// Reads the zone's file again in each call: an update of the database counts from then on.
    /// `invalid` when the file is missing or unreadable. `UTC` needs no file.
    static Result<TimeZone> find(std::string_view name, std::string_view folder = zone_folder);

    /// The period of an instant.
    [[nodiscard]] ZonePeriod at(UnixSeconds instant) const;

    /// The first instant at which the clock shows a time. If the clock skips the time, the instant
    /// of the step.
    [[nodiscard]] UnixSeconds first_instant(LocalSeconds local) const;

private:
    std::shared_ptr<const ZoneFile> file_;  ///< Null for UTC.
};

}  // namespace routemaster::detail
