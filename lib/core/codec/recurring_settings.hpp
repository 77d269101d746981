/// @file
/// Encodes the settings of a recurring job as a text. Stores keep the text unparsed, so a new
/// setting does not change their formats.

#pragma once

#include <string>
#include <string_view>

#include "routemaster/recurring_job.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// Encodes settings as a MessagePack map. Equal settings have equal bytes. Settings with their
/// default value are omitted.
[[nodiscard]] std::string encode_settings(const RecurringSettings& settings);

/// The reverse of `encode_settings`. `corrupted` when the text is not such a map, or lacks a
/// setting without a default. Unknown keys are ignored.
[[nodiscard]] Result<RecurringSettings> decode_settings(std::string_view bytes);

}  // namespace routemaster::detail
