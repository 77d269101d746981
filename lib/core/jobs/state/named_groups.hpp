/// @file
/// `NamedGroups`: the ordering groups of a queue, by name.

#pragma once

#include <string>

#include "core/containers/hash_index.hpp"
#include "core/containers/slab.hpp"
#include "core/jobs/state/job_state.hpp"
#include "core/state/payload.hpp"
#include "routemaster/job.hpp"

namespace routemaster::detail {

/// Table that owns the ordering groups of jobs with ids. It creates and destroys groups cheaply,
/// because many groups exist only as long as one job.
///
/// Not thread safe.
class NamedGroups {
public:
    NamedGroups() = default;
    NamedGroups(const NamedGroups&) = delete;
    NamedGroups& operator=(const NamedGroups&) = delete;
    ~NamedGroups() {
        by_name_.each([this](OrderingGroup& group) { groups_.destroy(group); });
    }

    [[nodiscard]] OrderingGroup& open(const std::string& name) {
        const auto hash = payload_hash(name);
        const auto has_name = [&name](const OrderingGroup& any) { return any.name == name; };
        if (auto* group = by_name_.find(hash, has_name)) return *group;
        auto& group = groups_.make();
        try {
            group.name = name;
            group.window = group_concurrency_max;
            by_name_.insert(hash, group);
        } catch (...) {
            groups_.destroy(group);
            throw;
        }
        return group;
    }

    void fetch(const std::string& name) const noexcept { by_name_.fetch(payload_hash(name)); }

    void close(OrderingGroup& group) {
        by_name_.remove(payload_hash(group.name), group);
        groups_.destroy(group);
    }

    /// Calls `visit` with each group, in no particular order. `visit` must not open or close
    /// groups.
    template <class Visit>
    void each(Visit visit) const {
        by_name_.each(visit);
    }

private:
    HashIndex<OrderingGroup> by_name_;
    Slab<OrderingGroup> groups_;
};

}  // namespace routemaster::detail
