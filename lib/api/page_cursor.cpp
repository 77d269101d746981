#include "page_cursor.hpp"

#include "http_server/percent_encoding.hpp"
#include "routemaster/public_part.hpp"

namespace routemaster::api {
namespace {

/// Returns the public part of a token, with `--`; empty if the token has no public part.
std::string_view open_part(std::string_view token) {
    const auto name = public_name(token);
    return name.empty() ? name : token.substr(0, name.size() + 2);
}

}  // namespace

PageCursor::PageCursor(std::string_view after, std::uint64_t skip, Keys keys)
    : keys_{keys},
      last_{keys == Keys::open ? after : open_part(after)},
      base_{last_},
      skip_{keys == Keys::open ? 0 : skip} {}

bool PageCursor::pass(std::string_view key) {
    const auto part = keys_ == Keys::open ? key : open_part(key);
    // Moves the base only if no listed item is between this public part and its key. Otherwise the
    // next page would list that item again.
    if (!part.empty() && part > last_) {
        base_ = part;
        since_ = key > part ? 1 : 0;
    } else {
        ++since_;
    }
    last_ = key;
    if (skip_ == 0) return true;
    --skip_;
    return false;
}

std::string PageCursor::query() const {
    auto text = "after=" + detail::percent_encoded(base_);
    if (keys_ == Keys::secret) text += "&skip=" + std::to_string(since_);
    return text;
}

}  // namespace routemaster::api
