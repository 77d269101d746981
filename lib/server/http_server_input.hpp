/// @file
/// What a client has sent and nobody has read yet.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace routemaster::detail {

/// The unread bytes of a connection. Most of the time they lie in the buffer that all connections
/// of a loop are read into; only what has to outlive the turn is copied.
///
/// Thread safety: one thread.
class Input {
public:
    /// Valid until the next call of another member.
    [[nodiscard]] std::string_view unread() const noexcept { return unread_; }
    [[nodiscard]] bool empty() const noexcept { return unread_.empty(); }

    /// The first `bytes` of them were read.
    void consume(std::size_t bytes) noexcept { unread_.remove_prefix(bytes); }

    /// `arrived` follows what is unread, which must have been kept.
    void add(std::string_view arrived) {
        kept_in_place_ = !unread_.empty();
        if (kept_in_place_) {
            kept_.append(arrived);
            unread_ = kept_;
        } else {
            unread_ = arrived;
        }
    }

    /// Makes what is unread its own, before the buffer it may lie in is written to.
    void keep() {
        if (unread_.empty()) {
            forget();
        } else if (kept_in_place_) {
            kept_.erase(0, kept_.size() - unread_.size());
        } else {
            kept_ = unread_;
            kept_in_place_ = true;
        }
        unread_ = kept_;
    }

    void clear() noexcept {
        forget();
        unread_ = {};
    }

private:
    /// Gives the memory back, which assigning an empty string would not.
    void forget() noexcept { std::string{}.swap(kept_); }

    std::string kept_;
    std::string_view unread_;
    bool kept_in_place_ = false;  ///< Whether `unread_` lies at the end of `kept_`.
};

}  // namespace routemaster::detail
