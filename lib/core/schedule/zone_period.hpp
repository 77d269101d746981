/// @file
/// Periods in which a time zone has a constant offset.

#pragma once

#include <cstdint>
#include <limits>

namespace routemaster::detail {

using UnixSeconds = std::int64_t;

struct ZonePeriod {
    UnixSeconds begin = std::numeric_limits<UnixSeconds>::min();
    UnixSeconds end = std::numeric_limits<UnixSeconds>::max();  ///< Exclusive.
    std::int64_t offset = 0;                                    ///< Local time minus UTC.
};

/// A change of a zone's offset, for instance to daylight saving time.
struct ZoneStep {
    UnixSeconds at = 0;
    std::int64_t offset = 0;
};

}  // namespace routemaster::detail
