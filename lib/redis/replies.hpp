/// @file
/// What the scripts reply, as outcomes of steps.

#pragma once

#include <cstddef>

#include "call.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::redis {

/// What is needed to understand the reply to a step. Made before the step is sent.
class ReplyReader {
public:
    /// `clock_offset` is that of the request.
    ReplyReader(const Step& step, Duration clock_offset);

    /// The outcome that an answer amounts to. `corrupted` when the reply has another form than the
    /// script's.
    [[nodiscard]] Outcome read(const Answer& answer) const;

private:
    std::size_t kind_;  ///< Index into `Step`.
    Lease lease_{};     ///< Queue and worker of an acquisition.
    Duration clock_offset_;
};

}  // namespace routemaster::redis
