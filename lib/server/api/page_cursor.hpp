/// @file
/// The position in a list at which the next page begins.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace routemaster::api {

/// Whether a client may know the keys of items.
enum class Keys {
    open,    ///< The next page begins after the key of the last item.
    secret,  ///< Keys are tokens, of which the client sees only the `public_name`.
};

/// Goes through a list and builds the query for the next page.
///
/// It encodes a secret key as its public name, with `--`, and the number of items after that which
/// were listed already: whatever a client requests, it learns nothing of the part after `--`.
///
/// Thread safety: a value.
class PageCursor {
public:
    /// Reads `after` and `skip` of a query, which may come from anybody.
    PageCursor(std::string_view after, std::uint64_t skip, Keys keys);

    /// The key after which to request items from the store.
    [[nodiscard]] const std::string& after() const noexcept { return last_; }

    /// Passes an item. False when an earlier page listed it.
    bool pass(std::string_view key);

    /// The query of the next page.
    [[nodiscard]] std::string query() const;

private:
    Keys keys_;
    std::string last_;         // The key of the last item.
    std::string base_;         // The part that clients may know.
    std::uint64_t since_ = 0;  // Items after it.
    std::uint64_t skip_ = 0;
};

}  // namespace routemaster::api
