/// @file
/// What a worker does when the store rejects a step: repeats it after a delay, or gives up.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/error.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The delay before a rejected step is submitted again, after `refusals` earlier rejections: 100
/// ms, doubled each time, at most 1 s.
[[nodiscard]] inline Duration refusal_backoff(std::uint32_t refusals) noexcept {
    constexpr Duration shortest{100};
    constexpr Duration longest{1'000};
    return std::min(longest, shortest * (1 << std::min(refusals, 4U)));
}

[[nodiscard]] inline bool is_final_refusal(const Error& error) {
    const auto& code = error.code();
    return code == Errc::invalid || code == Errc::forbidden || code == Errc::unauthenticated ||
           code == Errc::limit_exceeded;
}

}  // namespace routemaster::detail
