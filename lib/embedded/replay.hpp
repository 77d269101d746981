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
/// which row each entity is in. `corrupted` when a change is not one that a writer writes. Skips
/// changes of unknown batches and jobs: their first rows were forgotten, because a later row has
/// their full record or their end.
Result<void> replay(std::string_view changes, std::uint64_t row, detail::Machine& machine,
                    JournalWriter& writer);

/// The messages of the batch whose full record `changes` begins with. Throws `Failure` when it
/// begins with anything else.
MessageList messages_of(std::string_view changes);

}  // namespace routemaster::embedded
