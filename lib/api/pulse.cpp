#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "routes.hpp"

namespace routemaster::api {
namespace {

/// Formats an instant as Ruby prints a time, in UTC.
std::string printed(TimePoint at) {
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(at - day)};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d +0000",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text.data();
}

}  // namespace

void get_health(Exchange& exchange) { exchange.answer_json(200, "{}"); }

void get_time(Exchange& exchange) {
    exchange.answer_json(200, R"({"pong":")" + printed(exchange.now()) + R"("})");
}

/// Health check: whether the store accepts changes, and then whether the process can deliver.
void get_pulse(Exchange& exchange) {
    exchange.bus().probe(exchange.then([](Exchange& done) {
        const auto& trouble = done.options().trouble;
        if (const auto why = trouble ? trouble() : std::nullopt) {
            return done.refuse({Errc::unavailable, "deliveries: " + *why});
        }
        done.answer(204);
    }));
}

void get_load(Exchange& exchange) {
    exchange.bus().deliveries(
        exchange.options().scaling_deadline,
        exchange.then([](Exchange& done, const QueueStatus& queue) {
            const bool busy = queue.ready >= done.options().scaling_threshold;
            done.answer_with({204,
                              {},
                              {},
                              {{"Routemaster-Jobs-Due", std::to_string(queue.ready)},
                               {"Routemaster-Busy", busy ? "true" : "false"}}});
        }));
}

}  // namespace routemaster::api
