/// @file
/// Finds the addresses of names, on a bounded number of threads.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "routemaster/result.hpp"

namespace routemaster::detail {

/// Addresses of a name as `CURLOPT_RESOLVE` takes them: `93.184.216.34,[2606:2800::1]`.
using Addresses = std::shared_ptr<const std::string>;

/// What bounds a `NameResolver`.
struct NameResolverOptions {
    std::size_t threads_max = 32;   ///< Half of them at most look for names that failed before.
    std::size_t names_max = 4'096;  ///< Remembered or looked for.
    std::chrono::milliseconds timeout{2'000};  ///< A lookup that waited longer is not begun.
    std::chrono::seconds fresh_for{60};        ///< Looked up again thereafter.
    /// Until then the old addresses serve while they are looked up again, or cannot be.
    std::chrono::seconds usable_for{600};
};

/// Asks `getaddrinfo`, so that names are found as everywhere on the machine (`/etc/hosts`,
/// `nsswitch.conf`, DNS). Libcurl would start a thread for each transfer that waits; here a name is
/// looked up once for all who wait for it, and names that hang keep others waiting only when they
/// occupy all threads, and not those that were found before.
///
/// Thread safety: all members from one thread; `told` is called by others.
class NameResolver {
public:
    /// Is told what became of a name, while a lock is held: it must not call back. Not called after
    /// the resolver is gone.
    using Done = std::function<void(const std::string& name, const Result<Addresses>& found)>;

    NameResolver(NameResolverOptions options, Done done);

    /// Returns at once. Threads that hang in a lookup end with it.
    ~NameResolver();

    NameResolver(const NameResolver&) = delete;
    NameResolver& operator=(const NameResolver&) = delete;

    /// What is known of `name`; nothing when it is being looked up, and `told` will be called, or,
    /// when it has to wait for a thread for too long, will not.
    [[nodiscard]] std::optional<Result<Addresses>> look_up(const std::string& name);

private:
    struct Shared;

    std::shared_ptr<Shared> shared_;  ///< Also belongs to the threads.
};

}  // namespace routemaster::detail
