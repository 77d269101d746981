/// @file
/// `NameResolver`: resolves host names, on a bounded number of threads.

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
    std::size_t threads_max = 32;   ///< At most half of them for names that failed before.
    std::size_t names_max = 4'096;  ///< Names cached or being looked up.
    std::chrono::milliseconds timeout{2'000};  ///< Lookups that wait longer are dropped.
    std::chrono::seconds fresh_for{60};        ///< Age at which a name is looked up again.
    /// Age until which old addresses are used while the new lookup runs or fails.
    std::chrono::seconds usable_for{600};
};

/// Calls `getaddrinfo`, which resolves names as all programs of the machine do (`/etc/hosts`,
/// `nsswitch.conf`, DNS). libcurl itself would start a thread for each waiting transfer. This class
/// looks up each name once for all transfers. Lookups that hang delay further lookups only if they
/// occupy all threads, and never delay names with cached addresses.
///
/// Thread safety: all members must be called from one thread. Internal threads call `Done`.
class NameResolver {
public:
    /// Receives the result of a lookup. Called under a lock, so it must not call the resolver. Not
    /// called after the resolver is destroyed.
    using Done = std::function<void(const std::string& name, const Result<Addresses>& found)>;

    NameResolver(NameResolverOptions options, Done done);

    /// Returns at once. A thread in a lookup ends after the lookup.
    ~NameResolver();

    NameResolver(const NameResolver&) = delete;
    NameResolver& operator=(const NameResolver&) = delete;

    /// The addresses of `name`, or the error. Nothing if the lookup is running: then `Done`
    /// follows, unless the name waits longer than `timeout` for a thread.
    [[nodiscard]] std::optional<Result<Addresses>> look_up(const std::string& name);

private:
    struct Shared;

    std::shared_ptr<Shared> shared_;
};

}  // namespace routemaster::detail
