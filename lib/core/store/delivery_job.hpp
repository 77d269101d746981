/// @file
/// Delivery jobs. Their bytes are the MessagePack array `["batch", [uid]]`, as Ruby Routemaster
/// writes them. The callback of the subscriber decides which workers may do the job.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routemaster/subscription.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

/// fixarray 2, fixstr 5 `batch`, fixarray 1, fixstr 20; the uid follows.
inline constexpr std::string_view delivery_job_prefix{
    "\x92\xa5"
    "batch"
    "\x91\xb4"};

[[nodiscard]] inline std::string delivery_job(const Uid& batch) {
    std::string job{delivery_job_prefix};
    job.append(batch.text());
    return job;
}

/// The batch of a delivery job; nothing for other jobs.
[[nodiscard]] inline std::optional<Uid> batch_of(std::string_view job) {
    if (!job.starts_with(delivery_job_prefix)) return std::nullopt;
    return Uid::parse(job.substr(delivery_job_prefix.size()));
}

/// The destination of deliveries to a callback, as in `AcquireJobs`: "" for a URL.
[[nodiscard]] inline std::string_view destination_of(std::string_view callback) noexcept {
    return callback.starts_with(local_scheme) ? callback.substr(local_scheme.size())
                                              : std::string_view{};
}

}  // namespace routemaster::detail
