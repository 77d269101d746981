/// @file
/// Entities with a name: their table, and their form in a journal.
///
///     struct TokenState : Entity {
///         static constexpr Record record{.whole = 5, .gone = 6, .fields = 2, .fields_min = 2,
///                                        .format = 1};
///         TokenState() noexcept : Entity{record.kind()} {}
///         const std::string& name() const;  // The first field.
///         template <class Out> void write(Out& out) const;  // The further fields, in order.
///         template <class In> void read(In& in);            // All fields, in order.
///     };
///
/// Journals depend on nothing else, so a new kind of entity needs no change of the journals.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/state/entity.hpp"
#include "routemaster/step/reply.hpp"

namespace routemaster::detail {

/// How a journal records a kind of entity: the numbers of its changes, as docs/file-format.md lists
/// them. `whole` has all fields, `gone` only the name.
struct Record {
    std::uint8_t whole;
    std::uint8_t gone;
    std::uint8_t fields;      ///< Number of written fields, with the name.
    std::uint8_t fields_min;  ///< Number of fields in older formats.
    int format;               ///< The first file format with all these fields.

    [[nodiscard]] constexpr Entity::Kind kind() const noexcept { return Entity::Kind{whole}; }
};

/// All entities of a kind, by name. Their addresses are stable.
template <class State>
class NamedTable {
public:
    /// Null if there is no entity with this name.
    [[nodiscard]] State* find(const std::string& name) {
        const auto found = states_.find(name);
        return found == states_.end() ? nullptr : &found->second;
    }

    /// The entity with this name. A new entity has defaults. The caller sets its fields, the name
    /// first, and notes the change.
    State& open(const std::string& name) { return states_[name]; }

    /// Removes an entity. The caller has noted the change.
    void erase(const State& state) { states_.erase(std::string{state.name()}); }

    /// The results of `make` for each entity on a page.
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
