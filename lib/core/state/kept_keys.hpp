/// @file
/// Keys that exclude other jobs though the job that had them is done.

#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// A key of a queue, until an instant.
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

    std::string label;  ///< Queue, colon, key: the name of a queue has no colon.
    TimePoint until{};
};

/// All of them. Those whose time is over are forgotten when they are met, and two of them whenever
/// another is kept, so that they do not pile up.
///
/// Not thread safe.
class KeptKeys {
public:
    /// Both must outlive it.
    KeptKeys(ChangeLog& changes, CounterTable& counters) : changes_{changes}, counters_{counters} {}

    /// The key of a queue, if it excludes others; else null.
    [[nodiscard]] const KeptKeyState* find(const std::string& queue, const std::string& key,
                                           TimePoint now);

    /// Keeps a key of a queue until an instant.
    void keep(const std::string& queue, const std::string& key, TimePoint until, TimePoint now);

    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

    /// For a journal.
    [[nodiscard]] NamedTable<KeptKeyState>& table() noexcept { return table_; }
    /// The table was restored.
    void settle_restored();

private:
    void forget(KeptKeyState& key);
    [[nodiscard]] KeptKeyState& first() { return *table_.find(ends_.begin()->second); }

    ChangeLog& changes_;
    CounterTable& counters_;
    NamedTable<KeptKeyState> table_;
    std::set<std::pair<TimePoint, std::string>> ends_;  ///< When each ends, and its label.
};

}  // namespace routemaster::detail
