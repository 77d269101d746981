/// @file
/// What Ruby processes can read. A Ruby worker ends at an event or a job that it cannot.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::redis {

/// Why a Ruby worker ends at the message of an event, as `invalid`; its data may take `data_max`
/// bytes of MessagePack. Success also for a message of no event, which a Ruby worker passes over.
[[nodiscard]] Result<void> check_message_for_ruby(std::string_view message, std::size_t data_max);

/// Whether Ruby workers know a job of their queue `main` or `aux`.
[[nodiscard]] bool is_ruby_job(std::string_view queue, std::string_view job);

}  // namespace routemaster::redis
