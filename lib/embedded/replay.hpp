/// @file
/// Restores a state machine from journal rows.

#pragma once

#include <cstdint>
#include <string_view>

#include "core/state/machine.hpp"
#include "journal_writer.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"

namespace routemaster::embedded {

/// Applies the changes in one row to a machine that is being restored, and tells the writer which
/// entities have records in the row. `corrupted` if a change is not valid. Changes of unknown
/// batches and jobs are skipped. Their earlier rows were deleted because a later row has their full
/// record or their removal.
Result<void> replay(std::string_view changes, std::uint64_t row, detail::Machine& machine,
                    JournalWriter& writer);

/// Decodes the messages of a batch. `changes` must begin with a full record of the batch, otherwise
/// `Failure` is thrown.
MessageList messages_of(std::string_view changes);

}  // namespace routemaster::embedded
