/// @file
/// `KeptKeys`: keys of completed jobs that still exclude jobs.

#pragma once

#include <cstddef>
#include <string>

#include "core/state/counters.hpp"
#include "core/state/ending_table.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "routemaster/job_key.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct KeptKeyState : Entity {
    static constexpr Record record{
        .whole = 20, .gone = 21, .fields = 2, .fields_min = 2, .format = 5};

    KeptKeyState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return label; }
    template <class Out>
    void write(Out& out) const {
        out.integer(to_milliseconds(until));
    }
    template <class In>
    void read(In& in) {
        label = in.text();
        until = from_milliseconds(in.integer());
    }

    std::string label;  ///< Queue, colon, key. Unambiguous: queue names have no colon.
    TimePoint until{};
};

/// Table of the keys of completed jobs that have not expired.
///
/// Not thread safe.
class KeptKeys {
public:
    /// `changes` and `counters` must outlive the table.
    KeptKeys(ChangeLog& changes, CounterTable& counters)
        : changes_{changes}, keys_{changes, counters, kept_keys_max, "jobs.keys_forgotten"} {}

    /// The key, if it has not expired and still excludes jobs of the queue; otherwise null.
    [[nodiscard]] const KeptKeyState* find(const std::string& queue, const std::string& key,
                                           TimePoint now);

    void keep(const std::string& queue, const std::string& key, TimePoint until, TimePoint now);

    [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }

    [[nodiscard]] NamedTable<KeptKeyState>& table() noexcept { return keys_.table(); }
    /// Must be called after the table was restored.
    void settle_restored() { keys_.settle_restored(); }

private:
    ChangeLog& changes_;
    EndingTable<KeptKeyState> keys_;
};

}  // namespace routemaster::detail
