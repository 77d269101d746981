/// @file
/// The channels that notify listeners of timers. On the server, a channel is named
/// `{namespace}:ch:{listener}`, as in dtimer. `Store::watch` uses the name
/// `:timers:{namespace}:{listener}`.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace routemaster::redis {

[[nodiscard]] inline std::optional<std::string> timer_channel(std::string_view prefix,
                                                              std::string_view watch) {
    constexpr std::string_view kind = ":timers:";
    if (!watch.starts_with(kind)) return std::nullopt;
    watch.remove_prefix(kind.size());
    const auto colon = watch.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string channel{prefix};
    channel.append(watch.substr(0, colon)).append(":ch:").append(watch.substr(colon + 1));
    return channel;
}

/// The watch of a channel, the reverse of `timer_channel`. It is unambiguous, because namespaces
/// and listener names contain no colon.
[[nodiscard]] inline std::string watch_of_timer_channel(std::string_view prefix,
                                                        std::string_view channel) {
    channel.remove_prefix(prefix.size());
    const auto colon = channel.find(':');
    constexpr std::string_view middle = ":ch:";
    std::string watch{":timers:"};
    watch.append(channel.substr(0, colon)).append(":");
    return watch.append(channel.substr(colon + middle.size()));
}

}  // namespace routemaster::redis
