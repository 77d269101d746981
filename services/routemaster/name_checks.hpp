/// @file
/// Checks of names and texts on the command line. Each function returns the error text; empty for a
/// valid name.

#pragma once

#include <string>

namespace routemaster::service {

/// Checks the name of a queue, or of a recurring job or timer.
[[nodiscard]] std::string check_queue_name(const std::string& name);

[[nodiscard]] std::string check_topic_name(const std::string& name);

/// Checks a namespace of timers.
[[nodiscard]] std::string check_timer_space(const std::string& name);

/// Checks an optional text: an empty one is a mistake, for example an unset shell variable.
[[nodiscard]] std::string check_not_empty(const std::string& text);

/// Checks the value of an HTTP header.
[[nodiscard]] std::string check_header_value(const std::string& text);

}  // namespace routemaster::service
