/// @file
/// What steps check of themselves. Each is `invalid`, naming the field, when something is wrong.

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

/// Checks the name of a queue in a field: not `delivery_queue`, which is the bus's own.
[[nodiscard]] Result<void> check_not_deliveries(std::string_view field, std::string_view name);

/// Checks the name of a queue whose jobs have ids: none of Ruby Routemaster's.
[[nodiscard]] Result<void> check_own_queue(std::string_view name);

/// Checks the token or name in a field: `is_user_name`.
[[nodiscard]] Result<void> check_user_name(std::string_view field, std::string_view name);

/// Checks a field that must not be empty.
[[nodiscard]] Result<void> check_not_empty(std::string_view field, std::string_view text);

}  // namespace routemaster
