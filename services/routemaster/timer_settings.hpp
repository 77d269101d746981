/// @file
/// Settings shared by all commands that post timers.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/value.hpp"

namespace routemaster::service {

/// The due time of a timer: after `delay` seconds, or `at` milliseconds since 1970.
struct TimerDue {
    std::optional<double> delay;
    std::optional<std::int64_t> at;
};

/// Declares `--delay` and `--at`. `what` is a clause for the help text, such as `it is due`.
void declare_due(CLI::App& action, TimerDue& due, const std::string& what);

/// Adds the due time to `fields`. Throws `CLI::ValidationError` if both settings were given.
void add_due(const TimerDue& due, Value::Map& fields);

/// Declares `--id`, the id of a new timer.
void declare_new_id(CLI::App& action, std::string& id);

/// Declares `--retries-max`.
void declare_retries_max(CLI::App& action, std::uint32_t& retries);

/// Declares `--confirm-within`.
void declare_confirm_within(CLI::App& action, std::optional<double>& within);

/// Adds the time to confirm to `fields`, if present.
void add_confirm_within(std::optional<double> seconds, Value::Map& fields);

/// Prints the reply to a post. With `json`, prints the response unchanged.
void print_posted(const std::string& answer, bool json);

}  // namespace routemaster::service
