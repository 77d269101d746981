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

/// Where the database is.
inline constexpr std::string_view zone_folder = "/usr/share/zoneinfo";

/// A time zone.
///
/// Thread safety: a value.
class TimeZone {
public:
    /// Reads the zone's file, so that an update of the database counts from then on. `invalid` when
    /// there is none, or it cannot be read. `UTC` needs no file.
    static Result<TimeZone> find(std::string_view name, std::string_view folder = zone_folder);

    /// The period of an instant.
    [[nodiscard]] ZonePeriod at(UnixSeconds instant) const;

    /// When the clock shows a time for the first time; if it leaves the time out, when it steps.
    [[nodiscard]] UnixSeconds first_instant(LocalSeconds local) const;

private:
    std::shared_ptr<const ZoneFile> file_;  ///< Null for UTC.
};

}  // namespace routemaster::detail
