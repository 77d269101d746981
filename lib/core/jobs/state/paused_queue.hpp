/// @file
/// A paused queue, as a journal stores it.

#pragma once

#include <string>

#include "core/state/named.hpp"

namespace routemaster::detail {

/// A paused queue. The entity exists only while the queue is paused.
struct PausedQueueState : Entity {
    static constexpr Record record{
        .whole = 22, .gone = 23, .fields = 1, .fields_min = 1, .format = 6};

    PausedQueueState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return label; }
    template <class Out>
    void write(Out&) const {}
    template <class In>
    void read(In& in) {
        label = in.text();
    }

    std::string label;
};

}  // namespace routemaster::detail
