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
    std::size_t threads_max = 32;   ///< At most half of them look up names that failed before.
    std::size_t names_max = 4'096;  ///< Remembered or being looked up.
    std::chrono::milliseconds timeout{2'000};  ///< A lookup that waited longer is not begun.
    std::chrono::seconds fresh_for{60};        ///< Looked up again thereafter.
    /// Until then the old addresses serve while the name is looked up again, or that fails.
    std::chrono::seconds usable_for{600};
};

/// Calls `getaddrinfo`, so that it finds names as every program of the machine does (`/etc/hosts`,
/// `nsswitch.conf`, DNS). Libcurl would start a thread for each transfer that waits; the resolver
/// looks a name up once for all transfers, and names that hang delay others only when they occupy
/// all threads, and never names that were found before.
///
/// Thread safety: all members from one thread; `Done` is called by others.
class NameResolver {
public:
    /// Gets the result of a lookup. Called under a lock: it must not call back. Not called after
    /// the resolver is destroyed.
    using Done = std::function<void(const std::string& name, const Result<Addresses>& found)>;

    NameResolver(NameResolverOptions options, Done done);

    /// Returns at once. A thread that hangs in a lookup ends after the lookup.
    ~NameResolver();

    NameResolver(const NameResolver&) = delete;
    NameResolver& operator=(const NameResolver&) = delete;

    /// The addresses of `name`, or why there are none; nothing when it is being looked up. Then
    /// `Done` will be called, unless the name waits too long for a thread.
    [[nodiscard]] std::optional<Result<Addresses>> look_up(const std::string& name);

private:
    struct Shared;

    std::shared_ptr<Shared> shared_;  ///< The threads share it.
};

}  // namespace routemaster::detail
