/// @file
/// The outcomes of one submission.

#pragma once

#include <concepts>
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

    /// Adds the next one: what `make` returns, which is made where it stays.
    template <std::invocable Make>
    void add(const Make& make) {
        several_.capacity() > 0 ? void(several_.emplace_back(Made<Make>{make}))
                                : void(one_.emplace(Made<Make>{make}));
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
    /// Becomes an outcome as one is constructed of it, so that none is moved.
    template <class Make>
    struct Made {
        const Make& make;
        operator Outcome() const { return make(); }
    };

    std::optional<Outcome> one_;
    std::vector<Outcome> several_;
};

}  // namespace routemaster::detail
