/// @file
/// The outcomes of one submission.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "routemaster/step.hpp"

namespace routemaster::detail {

/// Most submissions are one step, whose outcome needs no memory of its own here.
///
/// Thread safety: a value.
class Outcomes {
public:
    /// Of so many steps; none is there yet.
    explicit Outcomes(std::size_t steps) {
        if (steps > 1) several_.reserve(steps);
    }

    /// Adds the next one.
    void add(Outcome&& outcome) {
        several_.capacity() > 0 ? several_.push_back(std::move(outcome))
                                : void(one_.emplace(std::move(outcome)));
    }

    /// Has the same for each step instead. Takes no memory but that of `outcome`.
    void replace(std::size_t steps, const Outcome& outcome) {
        if (several_.capacity() > 0) return several_.assign(steps, outcome);
        if (steps > 0) one_ = outcome;
    }

    /// Those that were added.
    [[nodiscard]] std::span<Outcome> all() noexcept {
        return one_ ? std::span{&*one_, 1} : std::span{several_};
    }
    [[nodiscard]] std::span<const Outcome> all() const noexcept {
        return one_ ? std::span{&*one_, 1} : std::span{several_};
    }

private:
    std::optional<Outcome> one_;
    std::vector<Outcome> several_;
};

}  // namespace routemaster::detail
