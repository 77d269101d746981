/// @file
/// Encodes the callback of a job batch as a text, the form in which stores keep it.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routemaster/job_batch.hpp"
#include "routemaster/result.hpp"

namespace routemaster::detail {

/// Encodes a callback as MessagePack of [queue, job, attempts_max, timeout, priority, before,
/// after]. The store builds the metadata of the callback's job as `before`, the id of the batch as
/// a MessagePack text, and `after`: together the encoding of a map. Returns an empty text without a
/// callback.
[[nodiscard]] std::string encode_callback(const std::optional<JobBatchCallback>& callback);

/// The reverse of `encode_callback`. `corrupted` when the text is neither empty nor an encoded
/// callback.
[[nodiscard]] Result<std::optional<JobBatchCallback>> decode_callback(std::string_view bytes);

}  // namespace routemaster::detail
