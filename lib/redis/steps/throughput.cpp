#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"

namespace routemaster::redis {
namespace {

constexpr std::int64_t minute = 60'000;
constexpr std::int64_t hour = 3'600'000;

using Counts = std::map<std::int64_t, QueueCounts>;

std::uint64_t* number_in(QueueCounts& counts, char letter) {
    switch (letter) {
        case 'd':
        case 'D': return &counts.done;
        case 'f':
        case 'F': return &counts.failed;
        case 'b':
        case 'B': return &counts.buried;
        case 'e':
        case 'E': return &counts.expired;
        default: return nullptr;
    }
}

/// Adds to the count of a minute or an hour, if it is among the last `most`. Unreadable fields are
/// ignored.
void add(Counts& all, char letter, std::int64_t place, std::int64_t last, std::int64_t most,
         std::int64_t increment) {
    QueueCounts known;
    if (place > last || place <= last - most || number_in(known, letter) == nullptr) return;
    *number_in(all[place], letter) += static_cast<std::uint64_t>(increment);
}

/// Converts the counts. Their times are times of the server's clock, and are not converted between
/// clocks.
std::vector<QueueCountsAt> listed(const Counts& counts, std::int64_t span) {
    std::vector<QueueCountsAt> all;
    for (const auto& [place, one] : counts) {
        all.push_back({from_milliseconds(place * span), one});
    }
    return all;
}

}  // namespace

template <>
struct StepProtocol<MeasureThroughput> {
    static Script script() {
        return compose(MeasureThroughput::traits, {}, lua::measure_throughput);
    }
    static void request(Request& request, const MeasureThroughput& step) {
        request.on("routemaster:throughput:", step.queue);
    }
    static QueueThroughput reply(const ScriptReply& reply) {
        const auto parts = items(reply.value, 1);
        const auto now = number(*parts[0]);
        Counts minutes;
        Counts hours;
        for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
            const auto field = text(*parts[i]);
            const auto increment = if_number(*parts[i + 1]).value_or(0);
            std::int64_t place = 0;
            const auto* const end = field.data() + field.size();
            if (field.size() < 2 || increment <= 0 ||
                std::from_chars(field.data() + 1, end, place).ptr != end) {
                continue;
            }
            const bool is_hour = std::isupper(static_cast<unsigned char>(field.front())) != 0;
            if (!is_hour) add(minutes, field.front(), place, now / minute, 60, increment);
            add(hours, field.front(), is_hour ? place : place / 60, now / hour, 24, increment);
        }
        return {listed(minutes, minute), listed(hours, hour)};
    }
};

template struct Protocols<ThroughputSteps>;

}  // namespace routemaster::redis
