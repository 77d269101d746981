/// @file
/// The callback of a batch as a single text, for stores.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routemaster/job_batch.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// MessagePack of [queue, job, attempts_max, timeout, priority, before, after]. In the metadata of
/// the callback's job, `before` and `after` surround the id of the batch, a text: with the id
/// between them, they are MessagePack of a map. Empty without a callback.
[[nodiscard]] std::string encode_callback(const std::optional<JobBatchCallback>& callback);

/// `corrupted` when the text is neither empty nor an encoded callback.
[[nodiscard]] Result<std::optional<JobBatchCallback>> decode_callback(std::string_view bytes);

}  // namespace routemaster::detail
