#include "core/schedule/time_zone.hpp"

#include <date/tz.h>

#include <chrono>
#include <exception>
#include <limits>
#include <string>

#include "core/schedule/quoted.hpp"

namespace routemaster::detail {
namespace {

Error unknown(std::string_view name) {
    return {Errc::invalid, "time_zone: the machine knows no zone " + quoted(name) +
                               "; names are as Europe/Berlin and UTC"};
}

ZonePeriod period(const date::sys_info& info) {
    return {.begin = info.begin.time_since_epoch().count(),
            .end = info.end.time_since_epoch().count(),
            .offset = info.offset.count()};
}

}  // namespace

Result<TimeZone> TimeZone::find(std::string_view name) {
    TimeZone zone;
    if (name == "UTC") return zone;
    // Those differ from machine to machine.
    if (name == "localtime" || name == "posixrules") return unknown(name);
    try {
        zone.zone_ = date::locate_zone(std::string{name});
        // A zone is read at its first use, which may fail.
        static_cast<void>(zone.at(0));
    } catch (const std::exception&) {
        return unknown(name);
    }
    return zone;
}

ZonePeriod TimeZone::at(UnixSeconds instant) const {
    if (zone_ == nullptr) {
        return {.begin = std::numeric_limits<UnixSeconds>::min(),
                .end = std::numeric_limits<UnixSeconds>::max()};
    }
    return period(zone_->get_info(date::sys_seconds{std::chrono::seconds{instant}}));
}

UnixSeconds TimeZone::first_instant(LocalSeconds local) const {
    if (zone_ == nullptr) return local;
    const auto info = zone_->get_info(date::local_seconds{std::chrono::seconds{local}});
    const auto before = period(info.first);
    return info.result == date::local_info::nonexistent ? before.end : local - before.offset;
}

}  // namespace routemaster::detail
