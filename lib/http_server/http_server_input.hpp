/// @file
/// `Input`: buffer of the unread bytes of a connection.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace routemaster::detail {

/// Buffer of unread bytes, without its own memory if possible. The bytes are usually in the read
/// buffer that all connections of a loop share, and are copied only if they must outlive the
/// iteration.
///
/// Thread safety: one thread.
class Input {
public:
    /// Valid until the next call of another member.
    [[nodiscard]] std::string_view unread() const noexcept { return unread_; }
    [[nodiscard]] bool empty() const noexcept { return unread_.empty(); }

    void consume(std::size_t bytes) noexcept { unread_.remove_prefix(bytes); }

    /// Appends `arrived`. If there are unread bytes, `keep` must have been called.
    void add(std::string_view arrived) {
        kept_in_place_ = !unread_.empty();
        if (kept_in_place_) {
            kept_.append(arrived);
            unread_ = kept_;
        } else {
            unread_ = arrived;
        }
    }

    /// Copies the unread bytes to memory of this object. Must be called before the shared buffer is
    /// overwritten.
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
    /// Frees the memory. Assigning an empty string would not free it.
    void forget() noexcept { std::string{}.swap(kept_); }

    std::string kept_;
    std::string_view unread_;
    bool kept_in_place_ = false;  ///< Whether `unread_` is a suffix of `kept_`.
};

}  // namespace routemaster::detail
