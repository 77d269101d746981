/// @file
/// Reads a journal row back into a state machine.

#pragma once

#include <cstdint>
#include <string_view>

#include "core/state/machine.hpp"
#include "journal_writer.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"

namespace routemaster::embedded {

/// Applies the changes of one row to a machine that is being restored, and reports to the writer
/// which row each entity is in. `corrupted` if a change is not valid. Skips changes of unknown
/// batches and jobs: their first rows were deleted, because a later row has their full record or
/// their end.
Result<void> replay(std::string_view changes, std::uint64_t row, detail::Machine& machine,
                    JournalWriter& writer);

/// The messages of a batch. `changes` must begin with the full record of the batch, otherwise the
/// function throws `Failure`.
MessageList messages_of(std::string_view changes);

}  // namespace routemaster::embedded
