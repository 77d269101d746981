/// @file
/// The callback of a batch, as stores keep it: one text.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routemaster/job_batch.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// MessagePack of [queue, job, attempts_max, timeout, priority, before, after]. The last two are
/// what stands before and after the id of the batch, a text, in the metadata of its job: with the
/// id between them they are MessagePack of a map. Empty when there is no callback.
[[nodiscard]] std::string encode_callback(const std::optional<JobBatchCallback>& callback);

/// `corrupted` when it is neither.
[[nodiscard]] Result<std::optional<JobBatchCallback>> decode_callback(std::string_view bytes);

}  // namespace routemaster::detail
