/// @file
/// Delivery jobs. A delivery job is encoded as the MessagePack array `["batch", [uid]]`, as in Ruby
/// Routemaster. The callback of the subscriber decides which workers may acquire the job.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routemaster/subscription.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

/// The bytes are fixarray 2, fixstr 5 with `batch`, fixarray 1, and fixstr 20. The uid follows.
inline constexpr std::string_view delivery_job_prefix{
    "\x92\xa5"
    "batch"
    "\x91\xb4"};

[[nodiscard]] inline std::string delivery_job(const Uid& batch) {
    std::string job{delivery_job_prefix};
    job.append(batch.text());
    return job;
}

/// The uid of the batch that a delivery job delivers. Nothing for other jobs.
[[nodiscard]] inline std::optional<Uid> batch_of(std::string_view job) {
    if (!job.starts_with(delivery_job_prefix)) return std::nullopt;
    return Uid::parse(job.substr(delivery_job_prefix.size()));
}

/// The destination of deliveries to a callback, as `AcquireJobs` names it. A URL has the
/// destination "".
[[nodiscard]] inline std::string_view destination_of(std::string_view callback) noexcept {
    return callback.starts_with(local_scheme) ? callback.substr(local_scheme.size())
                                              : std::string_view{};
}

}  // namespace routemaster::detail
