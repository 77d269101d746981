/// @file
/// How much data a step adds to a store.

#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "routemaster/store/step.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster::detail {

/// The bytes of payload that a step adds to its store; 0 for a step without a payload.
[[nodiscard]] inline std::uint64_t payload_bytes_of(const Step& step) {
    return std::visit(
        [](const auto& any) -> std::uint64_t {
            if constexpr (BringsPayload<std::decay_t<decltype(any)>>) {
                return any.payload_bytes();
            } else {
                return 0;
            }
        },
        step);
}

}  // namespace routemaster::detail
