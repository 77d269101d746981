/// @file
/// `Outcomes`: the outcomes of the steps of a submission.

#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Vector of outcomes. Allocates no memory for a submission with one step, as most submissions are.
///
/// Thread safety: a value.
class Outcomes {
public:
    explicit Outcomes(std::size_t steps) {
        if (steps > 1) several_.reserve(steps);
    }

    template <std::invocable Make>
    void add(const Make& make) {
        several_.capacity() > 0 ? void(several_.emplace_back(Made<Make>{make}))
                                : void(one_.emplace(Made<Make>{make}));
    }

    /// Replaces all outcomes by copies of `outcome`. Allocates no memory beyond these copies.
    void replace(std::size_t steps, const Outcome& outcome) {
        if (several_.capacity() > 0) return several_.assign(steps, outcome);
        if (steps > 0) one_ = outcome;
    }

    [[nodiscard]] std::span<Outcome> all() noexcept {
        return one_ ? std::span{&*one_, 1} : std::span{several_};
    }
    [[nodiscard]] std::span<const Outcome> all() const noexcept {
        return one_ ? std::span{&*one_, 1} : std::span{several_};
    }

private:
    /// Converts to an outcome during its construction, which saves a move.
    template <class Make>
    struct Made {
        const Make& make;
        operator Outcome() const { return make(); }
    };

    std::optional<Outcome> one_;
    std::vector<Outcome> several_;
};

}  // namespace routemaster::detail
