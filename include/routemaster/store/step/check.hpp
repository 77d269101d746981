/// @file
/// Validation of the fields of steps. The error for a wrong field is `invalid` and names the field.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster {

/// Validates the `limit` of a list: at least 1.
[[nodiscard]] Result<void> check_limit(std::uint32_t limit);

/// Validates the name of a topic: `is_topic_name`.
[[nodiscard]] Result<void> check_topic(std::string_view name);

/// Validates the name of a queue: `is_queue_name`.
[[nodiscard]] Result<void> check_queue(std::string_view name);

/// Validates the name of a queue in a field: not `delivery_queue`, which is reserved for the bus.
[[nodiscard]] Result<void> check_not_deliveries(std::string_view field, std::string_view name);

/// Validates the name of a queue whose jobs have ids: not a queue of Ruby Routemaster.
[[nodiscard]] Result<void> check_own_queue(std::string_view name);

/// Validates the token or name in a field: `is_user_name`.
[[nodiscard]] Result<void> check_user_name(std::string_view field, std::string_view name);

/// Validates that a field is not empty.
[[nodiscard]] Result<void> check_not_empty(std::string_view field, std::string_view text);

}  // namespace routemaster
