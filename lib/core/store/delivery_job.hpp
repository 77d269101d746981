/// @file
/// Delivery jobs. The bytes of one are the MessagePack array `["batch", [uid]]`, as Ruby
/// Routemaster writes it; and where it is done depends on its subscriber's callback.

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

/// The delivery job of a batch.
[[nodiscard]] inline std::string delivery_job(const Uid& batch) {
    std::string job{delivery_job_prefix};
    job.append(batch.text());
    return job;
}

/// The batch that a delivery job is for; nothing when it is another kind of job.
[[nodiscard]] inline std::optional<Uid> batch_of(std::string_view job) {
    if (!job.starts_with(delivery_job_prefix)) return std::nullopt;
    return Uid::parse(job.substr(delivery_job_prefix.size()));
}

/// The destination of deliveries to a callback, as `AcquireJobs` names it: "" for a URL.
[[nodiscard]] inline std::string_view destination_of(std::string_view callback) noexcept {
    return callback.starts_with(local_scheme) ? callback.substr(local_scheme.size())
                                              : std::string_view{};
}

}  // namespace routemaster::detail
