/// @file
/// Time zones of the machine's database, by the date library.

#pragma once

#include <cstdint>
#include <string_view>

#include "core/schedule/cron_fields.hpp"
#include "routemaster/result.hpp"

namespace date {
class time_zone;
}  // namespace date

namespace routemaster::detail {

/// Seconds since the Unix epoch.
using UnixSeconds = std::int64_t;

/// A time in which a zone keeps its distance from UTC.
struct ZonePeriod {
    UnixSeconds begin = 0;
    UnixSeconds end = 0;      ///< Not part of it.
    std::int64_t offset = 0;  ///< What to add to UTC.
};

/// A time zone.
///
/// Thread safety: a value.
class TimeZone {
public:
    /// `invalid` when the machine does not know the zone. It knows `UTC` without a database.
    static Result<TimeZone> find(std::string_view name);

    /// The period that an instant is in.
    [[nodiscard]] ZonePeriod at(UnixSeconds instant) const;

    /// When the clock shows a time for the first time; if it leaves the time out, when it steps.
    [[nodiscard]] UnixSeconds first_instant(LocalSeconds local) const;

private:
    const date::time_zone* zone_ = nullptr;  ///< Null for UTC. The database lives for ever.
};

}  // namespace routemaster::detail
