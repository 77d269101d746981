/// @file
/// Where a list goes on that was told in part.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace routemaster::api {

/// Which items a client may know the keys of.
enum class Keys {
    open,    ///< A list goes on behind the key of the last item.
    secret,  ///< Keys are tokens, and the client sees the `public_name` of them alone.
};

/// Goes through a list and says how to ask for what comes next.
///
/// A secret key is told by its public name, with `--`, and by how many items after that were told
/// already: whatever a client asks for, it learns nothing of what stands behind the `--`.
///
/// Thread safety: a value.
class PageCursor {
public:
    /// As a query says it, which may come from anybody.
    PageCursor(std::string_view after, std::uint64_t skip, Keys keys);

    /// What the store is asked for items behind.
    [[nodiscard]] const std::string& after() const noexcept { return last_; }

    /// Passes an item. False when it was told with an earlier part.
    bool pass(std::string_view key);

    /// The parameters that ask for what follows.
    [[nodiscard]] std::string query() const;

private:
    Keys keys_;
    std::string last_;         // The key of the last item.
    std::string base_;         // What may be told.
    std::uint64_t since_ = 0;  // Items behind it.
    std::uint64_t skip_ = 0;
};

}  // namespace routemaster::api
