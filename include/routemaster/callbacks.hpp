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

/// Takes a batch. To throw means that it failed: the batch comes again later. See also `Reject`.
using BatchHandler = std::function<void(const Batch&)>;

/// What can be made a `BatchHandler`.
template <class Handler>
concept HandlesBatches = std::is_invocable_v<Handler&, const Batch&>;

/// What the callback of a subscriber in the process begins with; its token follows.
inline constexpr std::string_view local_scheme = "local:";

/// The callbacks of a process, by the token of their subscriber. They live as long as the process:
/// after a restart the program names them again, and finds its batches waiting.
///
/// Thread safety: all members may be called from any thread.
class Callbacks {
public:
    /// Names the callback of a subscriber, in place of the one before.
    void set(const std::string& token, BatchHandler handler);

    /// Forgets the callback of a subscriber. One that is running ends undisturbed.
    void remove(const std::string& token);

    /// The callback of a subscriber; null when none was named.
    [[nodiscard]] std::shared_ptr<const BatchHandler> find(std::string_view token) const;

private:
    mutable std::mutex mutex_;  // Guards `handlers_`.
    std::map<std::string, std::shared_ptr<const BatchHandler>, std::less<>> handlers_;
};

}  // namespace routemaster
