/// @file
/// Periods between the steps of a time zone.

#pragma once

#include <cstdint>
#include <limits>

namespace routemaster::detail {

/// Seconds since the Unix epoch.
using UnixSeconds = std::int64_t;

/// A span in which a zone keeps its offset from UTC.
struct ZonePeriod {
    UnixSeconds begin = std::numeric_limits<UnixSeconds>::min();
    UnixSeconds end = std::numeric_limits<UnixSeconds>::max();  ///< Not part of it.
    std::int64_t offset = 0;                                    ///< Local time minus UTC.
};

/// An instant at which a zone takes an offset.
struct ZoneStep {
    UnixSeconds at = 0;
    std::int64_t offset = 0;
};

}  // namespace routemaster::detail
