/// @file
/// What a recurring job does, as stores keep it: one text, so that a new setting changes no layout.

#pragma once

#include <string>
#include <string_view>

#include "routemaster/recurring_job.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// A MessagePack map, the same for equal settings. What is as by default is left out.
[[nodiscard]] std::string encode_settings(const RecurringSettings& settings);

/// `corrupted` when it is none, or lacks what has no default. Keys that are not known are ignored.
[[nodiscard]] Result<RecurringSettings> decode_settings(std::string_view bytes);

}  // namespace routemaster::detail
