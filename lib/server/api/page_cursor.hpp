/// @file
/// `PageCursor`: the position in a list at which the next page begins.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace routemaster::api {

/// Whether a client may know the keys of items.
enum class Keys {
    open,    ///< The next page begins after the key of the last item.
    secret,  ///< Keys are tokens. The client sees only the `public_name`.
};

/// Iterates through a list and builds the query for the next page.
///
/// The query contains a secret key only as its public name with `--`, and the number of items
/// listed after this name. Therefore no request reveals the part of a token after `--`.
///
/// Thread safety: a value.
class PageCursor {
public:
    /// Takes `after` and `skip` of a query, which are untrusted.
    PageCursor(std::string_view after, std::uint64_t skip, Keys keys);

    /// The key after which to request items from the store.
    [[nodiscard]] const std::string& after() const noexcept { return last_; }

    /// Moves past an item. False if an earlier page listed the item.
    bool pass(std::string_view key);

    [[nodiscard]] std::string query() const;

private:
    Keys keys_;
    std::string last_;         // The key of the last item.
    std::string base_;         // The part that clients may know.
    std::uint64_t since_ = 0;  // Items after `base_`.
    std::uint64_t skip_ = 0;
};

}  // namespace routemaster::api
