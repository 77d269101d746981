/// @file
/// Numbers that are given once, also across restarts.

#pragma once

#include <cstdint>
#include <string>

#include "core/state/named.hpp"

namespace routemaster::detail {

/// The last number of a kind that was given, which a journal keeps though what bore it is gone.
struct SequenceState : Entity {
    static constexpr Record record{
        .whole = 18, .gone = 19, .fields = 2, .fields_min = 2, .format = 4};

    SequenceState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return label; }
    template <class Out>
    void write(Out& out) const {
        out.natural(last);
    }
    template <class In>
    void read(In& in) {
        label = in.text();
        last = in.natural();
    }

    std::string label;
    std::uint64_t last = 0;
};

}  // namespace routemaster::detail
