/// @file
/// Keeps a forked child away from the objects of its parent.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "routemaster/error.hpp"

namespace routemaster::detail {

/// The process that made an object. A forked child has a copy of the object without its threads:
/// locks may stay locked, and files, sockets and epoll sets are shared with the parent.
///
/// Thread safety: a constant.
class OwnerProcess {
public:
    /// The texts, for `refusal`, must be literals.
    explicit OwnerProcess(const char* object, const char* made = "made", const char* make = "make");

    /// False in a forked child. Makes no system call.
    [[nodiscard]] bool is_this() const noexcept;

    /// `invalid`: why a forked child cannot use the object, and what to do.
    [[nodiscard]] Error refusal() const { return refusal(object_); }
    [[nodiscard]] Error refusal(std::string_view object) const;

    /// Throws `Failure` with the refusal in a forked child.
    void require() const {
        if (!is_this()) throw Failure{refusal()};
    }

    /// Ends a forked child when a handler returns in it: the child would go on as a thread of its
    /// parent. The termination message names the object.
    void require_at_return() const noexcept;

private:
    std::uint32_t forks_;  // The fork count when the object was made.
    pid_t id_;
    const char* object_;
    const char* made_;
    const char* make_;
};

/// The implementation of a public object, with an `OwnerProcess` named `process`. Throws `Failure`
/// in a forked child.
template <class Impl>
[[nodiscard]] Impl& own(const std::unique_ptr<Impl>& impl) {
    impl->process.require();
    return *impl;
}

/// Keeps unfreed memory reachable for leak checkers, which then do not report a leak.
void keep_reachable(void* memory) noexcept;

/// In a forked child, leaves the implementation alive: its destructor would wait for missing
/// threads, and write to files and sockets of the parent. Call this first in the destructor.
template <class Impl>
void leave_to_parent(std::unique_ptr<Impl>& impl) noexcept {
    if (impl != nullptr && !impl->process.is_this()) keep_reachable(impl.release());
}

}  // namespace routemaster::detail
