/// @file
/// `Outcome`: the result of any step. This header only declares `Step` and `Reply`; see
/// `store/step.hpp`.

#pragma once

#include "routemaster/result.hpp"

namespace routemaster {

struct Step;
struct Reply;

/// The result of a step: its reply, or the error because of which the store did not perform it.
using Outcome = Result<Reply>;

}  // namespace routemaster
