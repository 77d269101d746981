/// @file
/// What commands that post timers have in common, whatever those timers carry.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/value.hpp"

namespace routemaster::service {

/// When a timer is to be due.
struct TimerDue {
    std::optional<double> delay;
    std::optional<std::int64_t> at;
};

/// Declares `--delay` and `--at`; `what` happens then, as `it is due`.
void declare_due(CLI::App& action, TimerDue& due, const std::string& what);

/// Adds what was given of these. Throws `CLI::ValidationError` when it was both.
void add_due(const TimerDue& due, Value::Map& fields);

/// Declares `--id`, of a timer that is posted.
void declare_new_id(CLI::App& action, std::string& id);

/// Declares `--retries-max`.
void declare_retries_max(CLI::App& action, std::uint32_t& retries);

/// Declares `--confirm-within`.
void declare_confirm_within(CLI::App& action, std::optional<double>& within);

/// Adds it, if it was given.
void add_confirm_within(std::optional<double> seconds, Value::Map& fields);

/// Prints what became of a post; `json`: as it was answered.
void print_posted(const std::string& answer, bool json);

}  // namespace routemaster::service
