/// @file
/// `SequenceState`: numbers that are never assigned twice, even after a restart.

#pragma once

#include <cstdint>
#include <string>

#include "core/state/named.hpp"

namespace routemaster::detail {

/// The last assigned number of a kind. A journal retains the number even after the object with this
/// number was removed.
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
