#include "timer_settings.hpp"

#include <iostream>

#include "answers.hpp"
#include "components/seconds.hpp"
#include "components/whole_number.hpp"
#include "name_checks.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/printable_text.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"
#include "table.hpp"

namespace routemaster::service {
namespace {

/// Converts a duration to seconds, the unit of the settings.
double in_seconds(Duration span) { return static_cast<double>(span.count()) / 1'000; }

}  // namespace

void declare_due(CLI::App& action, TimerDue& due, const std::string& what) {
    action.add_option("--delay", due.delay, "Seconds from now until " + what)
        ->check(seconds(0.0, in_seconds(span_max)))
        ->type_name("SECONDS");
    action
        .add_option("--at", due.at,
                    "When " + what + ": milliseconds since 1970, instead of --delay")
        ->check(whole_number(std::int64_t{0}, to_milliseconds(due_at_max)))
        ->type_name("MS");
}

void add_due(const TimerDue& due, Value::Map& fields) {
    if (due.delay && due.at) throw CLI::ValidationError("--at", "cannot be combined with --delay");
    if (due.delay) fields.emplace_back("delay", from_seconds(*due.delay).count());
    if (due.at) fields.emplace_back("at", *due.at);
}

void declare_new_id(CLI::App& action, std::string& id) {
    action
        .add_option("--id", id,
                    "Id of the timer; replaces a timer with the same id [a generated id]")
        ->check(check_not_empty);
}

void declare_retries_max(CLI::App& action, std::uint32_t& retries) {
    action
        .add_option("--retries-max", retries,
                    "How often the timer fires again without a confirmation; 0: the timer fires at "
                    "most once")
        ->check(whole_number(std::uint32_t{0}, timer_retries_max))
        ->capture_default_str();
}

void declare_confirm_within(CLI::App& action, std::optional<double>& within) {
    action
        .add_option("--confirm-within", within,
                    "Seconds that a listener has to confirm the timer [10]")
        ->check(seconds(0.001, in_seconds(timer_confirm_max)))
        ->type_name("SECONDS");
}

void add_confirm_within(std::optional<double> seconds, Value::Map& fields) {
    if (seconds) fields.emplace_back("confirm_within", from_seconds(*seconds).count());
}

void print_posted(const std::string& answer, bool json) {
    if (json) {
        std::cout << answer << '\n';
        return;
    }
    const auto posted = parse_json(answer).value();
    std::cout << printable_text(printed(field(posted, "id"))) << ' '
              << printed(field(posted, "outcome")) << '\n';
}

}  // namespace routemaster::service
