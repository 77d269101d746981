/// @file
/// The rules of Ruby workers. A Ruby worker crashes at an event or a job that violates them.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::redis {

/// Returns `invalid`, with the reason, for the message of an event at which a Ruby worker crashes.
/// `data_max` is the maximum size of its data, in bytes of MessagePack. Success also for a message
/// that is no event, since Ruby workers skip it.
[[nodiscard]] Result<void> check_message_for_ruby(std::string_view message, std::size_t data_max);

/// Whether Ruby workers know a job of their queue `main` or `aux`.
[[nodiscard]] bool is_ruby_job(std::string_view queue, std::string_view job);

}  // namespace routemaster::redis
