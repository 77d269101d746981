/// @file
/// The settings of a recurring job as a single text, for stores: new settings need no new layout.

#pragma once

#include <string>
#include <string_view>

#include "routemaster/recurring_job.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// A MessagePack map, equal for equal settings. Defaults are left out.
[[nodiscard]] std::string encode_settings(const RecurringSettings& settings);

/// `corrupted` when the text is not such a map, or lacks a setting without a default. Unknown keys
/// are ignored.
[[nodiscard]] Result<RecurringSettings> decode_settings(std::string_view bytes);

}  // namespace routemaster::detail
