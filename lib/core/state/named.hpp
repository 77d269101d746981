/// @file
/// Entities that have a name: a table of them, and how they stand in a journal.
///
///     struct TokenState : Entity {
///         static constexpr Record record{.whole = 5, .gone = 6, .fields = 2, .fields_min = 2,
///                                        .format = 1};
///         TokenState() noexcept : Entity{record.kind()} {}
///         const std::string& name() const;  // The first field.
///         template <class Out> void write(Out& out) const;  // The others, in their order.
///         template <class In> void read(In& in);            // The same.
///     };
///
/// Journals know no more of them than that, so another kind of entity needs no change there.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/state/entity.hpp"
#include "routemaster/step/reply.hpp"

namespace routemaster::detail {

/// How a journal records a kind of entity: the numbers of the changes, as docs/file-format.md
/// lists them. `whole` has all fields, `gone` the name alone.
struct Record {
    std::uint8_t whole;
    std::uint8_t gone;
    std::uint8_t fields;      ///< That are written, the name among them.
    std::uint8_t fields_min;  ///< That older formats wrote.
    int format;               ///< The first format of the file that has all of this.

    [[nodiscard]] constexpr Entity::Kind kind() const noexcept { return Entity::Kind{whole}; }
};

/// All entities of one kind, by their name. Their addresses are stable.
template <class State>
class NamedTable {
public:
    /// Null when there is none.
    [[nodiscard]] State* find(const std::string& name) {
        const auto found = states_.find(name);
        return found == states_.end() ? nullptr : &found->second;
    }

    /// The entity of that name, which begins with its defaults. The caller fills it in, the name
    /// first, and notes the changes.
    State& open(const std::string& name) { return states_[name]; }

    /// Forgets an entity. The caller has noted the changes.
    void erase(const State& state) { states_.erase(std::string{state.name()}); }

    /// What `make` makes of each on a page.
    template <class Listed, class Make>
    [[nodiscard]] std::vector<Listed> list(const Page& page, Make make) const {
        std::vector<Listed> all;
        for (auto place = states_.upper_bound(page.after);
             place != states_.end() && all.size() < page.limit; ++place) {
            all.push_back(make(place->second));
        }
        return all;
    }

    [[nodiscard]] auto begin() noexcept { return states_.begin(); }
    [[nodiscard]] auto end() noexcept { return states_.end(); }

private:
    std::map<std::string, State> states_;
};

}  // namespace routemaster::detail
