/// @file
/// Periods between the steps of a time zone.

#pragma once

#include <cstdint>
#include <limits>

namespace routemaster::detail {

/// Seconds since the Unix epoch.
using UnixSeconds = std::int64_t;

/// A span with a constant offset from UTC.
struct ZonePeriod {
    UnixSeconds begin = std::numeric_limits<UnixSeconds>::min();
    UnixSeconds end = std::numeric_limits<UnixSeconds>::max();  ///< Not part of the period.
    std::int64_t offset = 0;                                    ///< Local time minus UTC.
};

/// An instant when a zone changes its offset.
struct ZoneStep {
    UnixSeconds at = 0;
    std::int64_t offset = 0;
};

}  // namespace routemaster::detail
