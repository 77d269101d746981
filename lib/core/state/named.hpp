/// @file
/// Entities with a name: the table that stores them, and their encoding in a journal.
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
/// Journals use nothing else of an entity, so a new kind of entity needs no change of the journals.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/state/entity.hpp"
#include "routemaster/store/step/reply.hpp"

namespace routemaster::detail {

/// The numbers of the record types of a kind of entity, as listed in docs/file-format.md. A `whole`
/// record has all fields; a `gone` record has only the name.
struct Record {
    std::uint8_t whole;
    std::uint8_t gone;
    std::uint8_t fields;      ///< Number of written fields, including the name.
    std::uint8_t fields_min;  ///< Number of fields in older formats.
    int format;               ///< The first file format with all these fields.

    [[nodiscard]] constexpr Entity::Kind kind() const noexcept { return Entity::Kind{whole}; }
};

/// Table of all entities of a kind, by name. The addresses of entities are stable.
template <class State>
class NamedTable {
public:
    [[nodiscard]] State* find(const std::string& name) {
        const auto found = states_.find(name);
        return found == states_.end() ? nullptr : &found->second;
    }

    /// The entity with this name. A new entity has default values. The caller sets its fields, the
    /// name first, and notifies the change log.
    State& open(const std::string& name) { return states_[name]; }

    /// Removes an entity. The caller must have notified the change log.
    void erase(const State& state) { states_.erase(std::string{state.name()}); }

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
