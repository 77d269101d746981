/// @file
/// `NameResolver`: asynchronous DNS resolver with a cache and a bounded number of threads.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "routemaster/result.hpp"

namespace routemaster::detail {

/// Addresses of a name in the format of `CURLOPT_RESOLVE`: `93.184.216.34,[2606:2800::1]`.
using Addresses = std::shared_ptr<const std::string>;

struct NameResolverOptions {
    std::size_t threads_max = 32;   ///< At most half of them look up names that failed before.
    std::size_t names_max = 4'096;  ///< Maximum names that are cached or being looked up.
    std::chrono::milliseconds timeout{2'000};  ///< A lookup queued for longer is dropped.
    std::chrono::seconds fresh_for{60};  ///< Age at which cached addresses are looked up again.
    /// Age up to which cached addresses are used while a new lookup runs or fails.
    std::chrono::seconds usable_for{600};
};

/// Resolver that calls `getaddrinfo`, and so uses the system's configuration (`/etc/hosts`,
/// `nsswitch.conf`, DNS). libcurl itself would start one thread per waiting transfer. This class
/// looks up each name once for all transfers. Lookups that hang delay others only if they occupy
/// all threads, and never delay names with cached addresses.
///
/// Thread safety: all members must be called from one thread. Internal threads call `Done`.
class NameResolver {
public:
    /// Callback that receives the result of a lookup. It is called under a lock, so it must not
    /// call the resolver. It is not called after the destruction of the resolver.
    using Done = std::function<void(const std::string& name, const Result<Addresses>& found)>;

    NameResolver(NameResolverOptions options, Done done);

    /// Returns at once. A thread with a lookup in progress ends later, after its lookup.
    ~NameResolver();

    NameResolver(const NameResolver&) = delete;
    NameResolver& operator=(const NameResolver&) = delete;

    /// Returns the addresses of `name`, or the error. Returns nothing while the lookup runs. Then
    /// `Done` is called, unless the lookup is queued for longer than `timeout`.
    [[nodiscard]] std::optional<Result<Addresses>> look_up(const std::string& name);

private:
    struct Shared;

    std::shared_ptr<Shared> shared_;
};

}  // namespace routemaster::detail
