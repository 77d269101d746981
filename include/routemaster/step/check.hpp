/// @file
/// Checks of the fields of steps. A wrong field is `invalid`; the error names the field.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster {

/// Checks the `limit` of a list: at least 1.
[[nodiscard]] Result<void> check_limit(std::uint32_t limit);

/// Checks the name of a topic: `is_topic_name`.
[[nodiscard]] Result<void> check_topic(std::string_view name);

/// Checks the name of a queue: `is_queue_name`.
[[nodiscard]] Result<void> check_queue(std::string_view name);

/// Checks the name of a queue in a field: not `delivery_queue`, which is reserved for the bus.
[[nodiscard]] Result<void> check_not_deliveries(std::string_view field, std::string_view name);

/// Checks the name of a queue whose jobs have ids: not a queue of Ruby Routemaster.
[[nodiscard]] Result<void> check_own_queue(std::string_view name);

/// Checks the token or name in a field: `is_user_name`.
[[nodiscard]] Result<void> check_user_name(std::string_view field, std::string_view name);

/// Checks a field that must not be empty.
[[nodiscard]] Result<void> check_not_empty(std::string_view field, std::string_view text);

}  // namespace routemaster
