/// @file
/// The rules for data read by Ruby workers. A Ruby worker crashes on an event or job in violation
/// of the rules.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::redis {

/// Returns `invalid`, with the reason, if a Ruby worker would crash on the message of an event.
/// `data_max` is the largest allowed size of its data, in bytes of MessagePack. A message without
/// an event is a success, because Ruby workers skip it.
[[nodiscard]] Result<void> check_message_for_ruby(std::string_view message, std::size_t data_max);

/// Whether Ruby workers can run a job of their queue `main` or `aux`.
[[nodiscard]] bool is_ruby_job(std::string_view queue, std::string_view job);

}  // namespace routemaster::redis
