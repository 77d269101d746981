/// @file
/// Callbacks in the process that get batches as subscribers do.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

#include "routemaster/batch.hpp"

namespace routemaster {

/// Handles a batch. If it throws, the delivery failed, and the batch is retried later. See also
/// `Reject`.
using BatchHandler = std::function<void(const Batch&)>;

/// Callables that convert to a `BatchHandler`.
template <class Handler>
concept HandlesBatches = std::is_invocable_v<Handler&, const Batch&>;

/// The scheme of the callback of a subscriber in the process; its token follows.
inline constexpr std::string_view local_scheme = "local:";

/// The callbacks of a process, by the token of their subscriber. They live as long as the process:
/// after a restart the program registers them again, and gets the batches that waited.
///
/// Thread safety: all members may be called from any thread.
class Callbacks {
public:
    /// Registers the callback of a subscriber, and replaces the one before.
    void set(const std::string& token, BatchHandler handler);

    /// Forgets the callback of a subscriber. If it is running, it goes on to its end.
    void remove(const std::string& token);

    /// The callback of a subscriber; null when none is registered.
    [[nodiscard]] std::shared_ptr<const BatchHandler> find(std::string_view token) const;

private:
    mutable std::mutex mutex_;  // Guards `handlers_`.
    std::map<std::string, std::shared_ptr<const BatchHandler>, std::less<>> handlers_;
};

}  // namespace routemaster
