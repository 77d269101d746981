/// @file
/// What the scripts reply, as outcomes of steps.

#pragma once

#include <cstddef>
#include <string>

#include "call.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::redis {

/// What a step asked for and its script does not repeat.
struct AskedFor {
    std::string queue{};       ///< Of an acquisition.
    Uid worker{};              ///< Of an acquisition.
    std::string subscriber{};  ///< Whose batches are listed.
};

/// What is needed to understand the reply to a step. Made before the step is sent.
class ReplyReader {
public:
    /// `clock_offset` is that of the request.
    ReplyReader(const Step& step, Duration clock_offset);

    /// The outcome that a result amounts to. `corrupted` when the reply has another form than the
    /// script's.
    [[nodiscard]] Outcome read(const CallResult& result) const;

private:
    std::size_t kind_;  ///< Index into `Step`.
    AskedFor asked_for_{};
    Duration clock_offset_;
};

}  // namespace routemaster::redis
