/// @file
/// Validators for names and texts on the command line. Each function returns the error text, or an
/// empty text for a valid argument.

#pragma once

#include <string>

namespace routemaster::service {

/// Validates the name of a queue, or of a recurring job or timer.
[[nodiscard]] std::string check_queue_name(const std::string& name);

[[nodiscard]] std::string check_topic_name(const std::string& name);

/// Validates a namespace of timers.
[[nodiscard]] std::string check_timer_space(const std::string& name);

/// Validates an optional text. An empty text is probably a mistake, such as an unset shell
/// variable.
[[nodiscard]] std::string check_not_empty(const std::string& text);

/// Validates the value of an HTTP header.
[[nodiscard]] std::string check_header_value(const std::string& text);

}  // namespace routemaster::service
