#include "routemaster/worker_profile.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/codec/log_text.hpp"
#include "routemaster/subscription.hpp"

namespace routemaster {
namespace {

constexpr std::size_t shown_max = 100;

std::string quoted(std::string_view name) { return "'" + detail::log_text(name, shown_max) + "'"; }

std::string plural(std::uint64_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string{noun} + (count == 1 ? "" : "s");
}

Error too_long(std::string_view field) {
    return {Errc::invalid, "profile: " + std::string{field} + " is too long"};
}

}  // namespace

// --- Profiles -----------------------------------------------------------------------------------

bool WorkerProfile::may_handle(std::string_view handler) const {
    if (others != Others::refused || handlers_total > handlers.size()) return true;
    return std::find(handlers.begin(), handlers.end(), handler) != handlers.end();
}

void WorkerProfile::list_handlers(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    handlers_total = names.size();
    std::erase_if(names, [](const auto& each) { return each.size() > profile_name_bytes_max; });
    if (names.size() > profile_names_max) names.resize(profile_names_max);
    handlers = std::move(names);
}

Result<void> WorkerProfile::check() const {
    constexpr Duration silence_max{2 * 86'400'000};
    const auto fits = [](const std::vector<std::string>& names) {
        return names.size() <= profile_names_max &&
               std::all_of(names.begin(), names.end(),
                           [](const auto& each) { return each.size() <= profile_name_bytes_max; });
    };
    if (!fits(queues)) return too_long("queues");
    if (!fits(handlers)) return too_long("handlers");
    if (name.size() > profile_name_bytes_max) return too_long("name");
    if (host.size() > profile_name_bytes_max) return too_long("host");
    if (silence < Duration{1} || silence > silence_max) {
        return Error{Errc::invalid, "profile: silence must be from 1 ms to two days"};
    }
    return {};
}

std::string delivery_handler(std::string_view callback) {
    return std::string{callback.starts_with(local_scheme) ? callback : "http"};
}

// --- The workers of a queue ---------------------------------------------------------------------

QueueWorkers::Lack QueueWorkers::lack() const noexcept {
    if (handling > full) return Lack::nothing;
    if (unprofiled > 0) return Lack::nothing;
    if (workers == 0) return Lack::worker;
    return handling == 0 ? Lack::handler : Lack::capacity;
}

std::string to_text(const QueueWorkers& workers, std::string_view queue, std::string_view handler,
                    TimePoint now) {
    using Lack = QueueWorkers::Lack;
    const std::string served{queue};
    const auto span_since = [now](TimePoint at) { return to_words(now - at); };
    switch (workers.lack()) {
        case Lack::nothing: break;
        case Lack::worker:
            return "no worker serves " + served +
                   (workers.last_at
                        ? "; the last one was heard of " + span_since(*workers.last_at) + " ago"
                        : "");
        case Lack::handler:
            return (workers.workers == 1 ? "the worker of " : "the workers of ") + served +
                   (workers.workers == 1 ? " has" : " have") + " no handler for " + quoted(handler);
        case Lack::capacity:
            return (workers.capacity == 1 ? "the only slot"
                                          : "all " + plural(workers.capacity, "slot")) +
                   " of " + plural(workers.full, "worker") +
                   (workers.capacity == 1 ? " is" : " are") + " busy" +
                   (workers.busy_since
                        ? "; the oldest job has run for " + span_since(*workers.busy_since)
                        : "");
    }
    return {};
}

std::string to_words(Duration span) {
    constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> units{
        {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1'000, "s"}}};
    const auto count = std::max<std::int64_t>(span.count(), 0);
    for (const auto& [size, unit] : units) {
        if (count >= size || size == 1'000) {
            return std::to_string(count / size) + " " + std::string{unit};
        }
    }
    return {};
}

}  // namespace routemaster
