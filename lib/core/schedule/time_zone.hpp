/// @file
/// `TimeZone`: a time zone from the operating system's database.

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
    /// Loads a zone by its name. Each call reads the file again, to use an updated database.
    /// `invalid` when the file is missing or unreadable. `UTC` needs no file.
    static Result<TimeZone> find(std::string_view name, std::string_view folder = zone_folder);

    [[nodiscard]] ZonePeriod at(UnixSeconds instant) const;

    /// The first instant at which a local clock shows a time. If the clock skips the time, returns
    /// the instant when the clock is set forward.
    [[nodiscard]] UnixSeconds first_instant(LocalSeconds local) const;

private:
    std::shared_ptr<const ZoneFile> file_;  ///< Null for UTC.
};

}  // namespace routemaster::detail
