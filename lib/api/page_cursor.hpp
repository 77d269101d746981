/// @file
/// `PageCursor`: the position in a list at which the next page begins.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace routemaster::api {

/// Whether clients may see the keys of items.
enum class Keys {
    open,    ///< The query of the next page contains the last key.
    secret,  ///< Keys are tokens, and clients may see only the `public_name`.
};

/// Cursor of a paged list, which creates the query for the next page.
///
/// For secret keys, the query contains only the public name of a key with `--`, and the number of
/// items listed after this name. Thus no request reveals the text after the `--` of a token.
///
/// Thread safety: a value.
class PageCursor {
public:
    /// Parses `after` and `skip` of an untrusted query.
    PageCursor(std::string_view after, std::uint64_t skip, Keys keys);

    /// The key after which the next items must be requested.
    [[nodiscard]] const std::string& after() const noexcept { return last_; }

    /// Advances past an item. Returns false if an earlier page has listed the item.
    bool pass(std::string_view key);

    [[nodiscard]] std::string query() const;

private:
    Keys keys_;
    std::string last_;
    std::string base_;  // The last key, or its public part, that the query may contain.
    std::uint64_t since_ = 0;
    std::uint64_t skip_ = 0;
};

}  // namespace routemaster::api
