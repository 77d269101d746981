/// @file
/// Builds the profile of a worker in this process.

#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "core/system/process_identity.hpp"
#include "routemaster/time.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster::detail {

/// The caller must add the handlers.
[[nodiscard]] inline WorkerProfile own_profile(std::string queue, TimePoint since,
                                               Duration silence) {
    WorkerProfile profile{.host = host_name(), .process = process_id(), .since = since};
    profile.host.resize(std::min(profile.host.size(), profile_name_bytes_max - 21));
    profile.name = profile.host + ':' + std::to_string(profile.process);
    profile.queues.push_back(std::move(queue));
    profile.silence = silence;
    return profile;
}

}  // namespace routemaster::detail
