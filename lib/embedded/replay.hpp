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

/// Applies the changes of one row to a machine that is being restored, and tells the writer where
/// each entity stands. `corrupted` when they are no changes that a writer writes. Changes on
/// batches and jobs that are unknown are passed over: their beginning was forgotten because they
/// are told again, or are gone, further on.
Result<void> replay(std::string_view changes, std::uint64_t row, detail::Machine& machine,
                    JournalWriter& writer);

/// The messages of the batch whose whole record `changes` begins with. Throws `Failure` when it
/// does not.
MessageList messages_of(std::string_view changes);

}  // namespace routemaster::embedded
