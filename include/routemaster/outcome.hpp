/// @file
/// Any step, and what comes of it, by name alone: `step.hpp` says what there is.

#pragma once

#include "routemaster/result.hpp"

namespace routemaster {

struct Step;
struct Reply;

/// What a step came to: its reply, or why it was not done.
using Outcome = Result<Reply>;

}  // namespace routemaster
