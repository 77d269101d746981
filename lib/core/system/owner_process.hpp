/// @file
/// Keeps a forked child from using objects that its parent created.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "routemaster/error.hpp"

namespace routemaster::detail {

/// Records which process created an object. A forked child has a copy of the object, but not its
/// threads. Locks may stay locked for ever, and files, sockets and epoll sets are shared with the
/// parent.
///
/// Thread safety: a constant.
class OwnerProcess {
public:
    /// The arguments are used in the text of `refusal`, and must be literals.
    explicit OwnerProcess(const char* object, const char* made = "made", const char* make = "make");

    /// Whether this process created the object. False in a forked child. Makes no system call.
    [[nodiscard]] bool is_this() const noexcept;

    /// An error `invalid` with the reason why a forked child cannot use the object, and with
    /// advice.
    [[nodiscard]] Error refusal() const { return refusal(object_); }
    [[nodiscard]] Error refusal(std::string_view object) const;

    /// Throws `Failure` with the error `refusal` in a forked child.
    void require() const {
        if (!is_this()) throw Failure{refusal()};
    }

    /// Called after a handler returns. If the handler forked, the child would continue as a thread
    /// of its parent. This function ends the child with a termination message that names the
    /// object.
    void require_at_return() const noexcept;

private:
    std::uint32_t forks_;  // The fork count when the object was created.
    pid_t id_;
    const char* object_;
    const char* made_;
    const char* make_;
};

/// Dereferences the implementation of a public object, which must have an `OwnerProcess` named
/// `process`. Throws `Failure` in a forked child.
template <class Impl>
[[nodiscard]] Impl& own(const std::unique_ptr<Impl>& impl) {
    impl->process.require();
    return *impl;
}

/// Retains a pointer to memory that is never freed. Leak checkers then do not report the memory.
void keep_reachable(void* memory) noexcept;

/// To be called first in a destructor. In a forked child, it leaks the implementation on purpose.
/// Destroying it would wait for threads that do not exist, and would write to files and sockets of
/// the parent.
template <class Impl>
void leave_to_parent(std::unique_ptr<Impl>& impl) noexcept {
    if (impl != nullptr && !impl->process.is_this()) keep_reachable(impl.release());
}

}  // namespace routemaster::detail
