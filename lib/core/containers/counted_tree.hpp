/// @file
/// A sorted set that counts the entries before a bound in logarithmic time.

#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "routemaster/detail/assert.hpp"

namespace routemaster::detail {

/// Sorted set: a B+ tree whose nodes store the number of entries below each child. Each operation
/// takes logarithmic time. Entries inserted in ascending order fill the leaves completely. Removing
/// the first entry changes one leaf only.
///
/// When memory is exhausted, `insert` throws and does not change the tree. Not thread safe.
template <class Entry>
class CountedTree {
public:
    static_assert(std::is_trivially_copyable_v<Entry>, "an insertion that fails changes nothing");

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// The least entry. The set must not be empty.
    [[nodiscard]] const Entry& first() const noexcept { return root_.first(); }

    /// The greatest entry. The set must not be empty.
    [[nodiscard]] const Entry& last() const noexcept {
        const Node* node = &root_;
        while (!node->is_leaf()) node = node->children.back().node.get();
        return node->entries.back();
    }

    /// Inserts an entry. The set must not contain an equal entry.
    void insert(const Entry& entry) {
        if (root_.is_full()) add_level();
        insert(root_, entry);
        ++size_;
    }

    /// Removes an entry. The set must contain the entry.
    void remove(const Entry& entry) noexcept {
        remove(root_, entry);
        --size_;
        while (root_.children.size() == 1) {
            const auto only = std::move(root_.children.front().node);
            root_ = std::move(*only);
        }
    }

    /// The number of entries for which `precedes(entry)` is true. `precedes` must be true for the
    /// least entries only.
    template <class Precedes>
    [[nodiscard]] std::size_t count(Precedes precedes) const {
        const auto begins_before = [&](const Child& child) { return precedes(child.first); };
        std::size_t before = 0;
        const Node* node = &root_;
        while (!node->is_leaf()) {
            const auto& children = node->children;
            const auto end = std::partition_point(children.begin(), children.end(), begins_before);
            if (end == children.begin()) return before;
            const auto last = end - 1;
            for (auto child = children.begin(); child != last; ++child) before += child->size;
            node = last->node.get();
        }
        const auto& entries = node->entries;
        const auto end = std::partition_point(entries.begin(), entries.end(), precedes);
        return before + static_cast<std::size_t>(end - entries.begin());
    }

    /// Calls `visit` with the entries in ascending order until it returns false. Skips the least
    /// entries, for which `precedes(entry)` is true. `visit` must not change the tree.
    template <class Precedes, class Visit>
    void visit_from(Precedes precedes, Visit visit) const {
        visit_from(root_, precedes, visit);
    }

private:
    static constexpr std::size_t entries_max = 128;  // Per leaf.
    static constexpr std::size_t children_max = 64;  // Per inner node.

    struct Node;
    struct Child {
        Entry first;
        std::size_t size;
        std::unique_ptr<Node> node;
    };
    /// Every node except the root reserves its full capacity. Therefore only a split, or the growth
    /// of a root that is a leaf, allocates memory.
    struct Node {
        std::vector<Entry> entries;   ///< Used in a leaf.
        std::vector<Child> children;  ///< Used in an inner node.

        [[nodiscard]] bool is_leaf() const noexcept { return children.empty(); }
        [[nodiscard]] bool is_full() const noexcept {
            return entries.size() == entries_max || children.size() == children_max;
        }
        [[nodiscard]] const Entry& first() const noexcept {
            return is_leaf() ? entries.front() : children.front().first;
        }
    };

    template <class Precedes, class Visit>
    static bool visit_from(const Node& node, Precedes& precedes, Visit& visit) {
        if (node.is_leaf()) {
            const auto& entries = node.entries;
            const auto begin = std::partition_point(entries.begin(), entries.end(), precedes);
            return std::all_of(begin, entries.end(), visit);
        }
        const auto& children = node.children;
        const auto begins_before = [&](const Child& child) { return precedes(child.first); };
        auto child = std::partition_point(children.begin(), children.end(), begins_before);
        if (child != children.begin()) --child;
        return std::all_of(child, children.end(), [&](const Child& each) {
            return visit_from(*each.node, precedes, visit);
        });
    }

    static std::size_t place(const std::vector<Child>& children, const Entry& entry) {
        // Checks the last child first, because most entries belong there.
        if (!(entry < children.back().first)) return children.size() - 1;
        const auto after = std::upper_bound(
            children.begin(), children.end(), entry,
            [](const Entry& sought, const Child& child) { return sought < child.first; });
        return after == children.begin() ? 0
                                         : static_cast<std::size_t>(after - children.begin()) - 1;
    }

    void add_level() {
        Node root;
        root.children.reserve(children_max);
        auto below = std::make_unique<Node>(std::move(root_));
        const auto first = below->first();
        root.children.push_back({first, size_, std::move(below)});
        root_ = std::move(root);
    }

    /// Inserts an entry below a node that is not full.
    static void insert(Node& node, const Entry& entry) {
        if (node.is_leaf()) {
            auto& entries = node.entries;
            const bool is_last = entries.empty() || !(entry < entries.back());
            entries.insert(
                is_last ? entries.end() : std::upper_bound(entries.begin(), entries.end(), entry),
                entry);
            return;
        }
        auto at = place(node.children, entry);
        if (node.children[at].node->is_full()) {
            split(node, at, entry);
            at = place(node.children, entry);
        }
        auto& child = node.children[at];
        insert(*child.node, entry);
        ++child.size;
        if (entry < child.first) child.first = entry;
    }

    static void split(Node& parent, std::size_t at, const Entry& entry) {
        auto& left = *parent.children[at].node;
        auto right = std::make_unique<Node>();
        // If the entry belongs behind the last child, entries probably arrive in ascending order.
        // Then the left node stays full, because no more entries will be inserted into it.
        const bool comes_last = at + 1 == parent.children.size();
        std::size_t moved = 0;
        if (left.is_leaf()) {
            right->entries.reserve(entries_max);
            const bool in_order = comes_last && !(entry < left.entries.back());
            moved = move_tail(left.entries, right->entries, in_order);
        } else {
            right->children.reserve(children_max);
            const bool in_order = comes_last && !(entry < left.children.back().first);
            move_tail(left.children, right->children, in_order);
            for (const auto& child : right->children) moved += child.size;
        }
        parent.children[at].size -= moved;
        const auto first = right->first();
        parent.children.insert(parent.children.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                               {first, moved, std::move(right)});
    }

    template <class Item>
    static std::size_t move_tail(std::vector<Item>& from, std::vector<Item>& to, bool last_only) {
        const auto count = last_only ? 1 : from.size() / 2;
        const auto begin = from.end() - static_cast<std::ptrdiff_t>(count);
        std::move(begin, from.end(), std::back_inserter(to));
        from.erase(begin, from.end());
        return count;
    }

    static void remove(Node& node, const Entry& entry) noexcept {
        if (node.is_leaf()) {
            auto& entries = node.entries;
            const bool is_first = !(entries.front() < entry);
            const auto found = is_first ? entries.begin()
                                        : std::lower_bound(entries.begin(), entries.end(), entry);
            ROUTEMASTER_ASSERT(found != entries.end() && !(entry < *found));
            entries.erase(found);
            return;
        }
        const auto at = place(node.children, entry);
        auto& child = node.children[at];
        remove(*child.node, entry);
        if (--child.size == 0) {
            node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(at));
            return;
        }
        child.first = child.node->first();
        if (at + 1 < node.children.size()) merge_with_next(node, at);
        if (at > 0) merge_with_next(node, at - 1);
    }

    /// Merges two neighbours if they fill at most half a node together.
    static void merge_with_next(Node& parent, std::size_t at) noexcept {
        auto& left = parent.children[at];
        auto& right = parent.children[at + 1];
        auto& [entries, children] = *left.node;
        auto& [more_entries, more_children] = *right.node;
        if (entries.size() + more_entries.size() > entries_max / 2) return;
        if (children.size() + more_children.size() > children_max / 2) return;
        entries.insert(entries.end(), more_entries.begin(), more_entries.end());
        std::move(more_children.begin(), more_children.end(), std::back_inserter(children));
        left.size += right.size;
        parent.children.erase(parent.children.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }

    Node root_;
    std::size_t size_ = 0;
};

}  // namespace routemaster::detail
