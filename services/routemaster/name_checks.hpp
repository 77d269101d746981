/// @file
/// Which names and texts the command line takes. Each says what is wrong with one; empty: nothing.

#pragma once

#include <string>

namespace routemaster::service {

/// Of queues, and of what recurs.
[[nodiscard]] std::string check_queue_name(const std::string& name);

[[nodiscard]] std::string check_topic_name(const std::string& name);

/// Of namespaces of timers.
[[nodiscard]] std::string check_timer_space(const std::string& name);

/// Of what may be left out: a text that is empty is a mistake, as a variable that is not set.
[[nodiscard]] std::string check_not_empty(const std::string& text);

}  // namespace routemaster::service
