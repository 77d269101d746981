#include "core/schedule/time_zone.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/schedule/quoted.hpp"
#include "core/system/file_descriptor.hpp"

namespace routemaster::detail {
namespace {

/// The largest accepted size of a zone file, ten times the largest file in the database.
constexpr std::size_t file_bytes_max = 65'536;

Error unknown(std::string_view name) {
    return {Errc::invalid, "time_zone: this machine has no zone " + quoted(name) +
                               "; names look like Europe/Berlin and UTC"};
}

Error no_database(std::string_view folder) {
    return {Errc::invalid, "time_zone: the machine has no time zones but UTC in " +
                               std::string{folder} + "; install tzdata"};
}

Error unreadable(const std::string& path) {
    return {Errc::invalid,
            "time_zone: the file " + path + " is damaged or unreadable; reinstall tzdata"};
}

/// Whether a zone may have this name. Rejects paths out of the database, and names with a different
/// meaning on each machine.
bool is_zone_name(std::string_view name) {
    constexpr std::string_view others = "_-+/";
    const auto allowed = [&](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               others.find(c) != std::string_view::npos;
    };
    if (name.empty()) return false;
    if (!std::all_of(name.begin(), name.end(), allowed) || name.starts_with('/')) return false;
    return name != "localtime" && name != "posixrules" && !name.starts_with("posix/") &&
           !name.starts_with("right/");
}

/// The first bytes of a file. Nothing when the file cannot be opened.
std::optional<std::string> read_file(const std::string& path) {
    const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!file) return std::nullopt;
    std::string bytes(file_bytes_max, '\0');
    std::size_t size = 0;
    while (size < bytes.size()) {
        const auto read = ::read(file.get(), bytes.data() + size, bytes.size() - size);
        if (read < 0 && errno == EINTR) continue;
        if (read <= 0) break;
        size += static_cast<std::size_t>(read);
    }
    bytes.resize(size);
    return bytes;
}

}  // namespace

Result<TimeZone> TimeZone::find(std::string_view name, std::string_view folder) {
    TimeZone zone;
    if (name == "UTC") return zone;
    if (!is_zone_name(name)) return unknown(name);
    const std::string database{folder};
    const auto path = database + "/" + std::string{name};
    const auto bytes = read_file(path);
    if (!bytes && ::access(database.c_str(), X_OK) != 0) return no_database(folder);
    // The folders and lists in the database of zones are rejected, because they are not zones.
    if (!bytes || !ZoneFile::is(*bytes)) return unknown(name);
    auto file = ZoneFile::parse(*bytes);
    if (!file) return unreadable(path);
    zone.file_ = std::make_shared<const ZoneFile>(*std::move(file));
    return zone;
}

ZonePeriod TimeZone::at(UnixSeconds instant) const {
    return file_ == nullptr ? ZonePeriod{} : file_->at(instant);
}

UnixSeconds TimeZone::first_instant(LocalSeconds local) const {
    if (file_ == nullptr) return local;
    // No zone differs from UTC by two days, so this instant precedes every instant with the local
    // time.
    constexpr std::int64_t two_days = 172'800;
    auto period = at(local - two_days);
    while (local - period.offset >= period.end) period = at(period.end);
    return std::max(local - period.offset, period.begin);
}

}  // namespace routemaster::detail
