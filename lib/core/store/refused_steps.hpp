/// @file
/// Rejects a whole submission without performing its steps.

#pragma once

#include <span>
#include <vector>

#include "routemaster/error.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

inline void refuse(std::span<const Step> steps, const Completion& done, const Error& error) {
    std::vector<Outcome> outcomes(steps.size(), Outcome{error});
    done(outcomes);
}

}  // namespace routemaster::detail
