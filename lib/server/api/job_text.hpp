/// @file
/// Jobs as clients see them.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routemaster/job.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/job_metadata.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/time.hpp"

namespace routemaster::api {

/// The word for a state.
[[nodiscard]] std::string_view to_string(JobStatus::State state) noexcept;

/// The state of that name.
[[nodiscard]] std::optional<JobStatus::State> job_state(std::string_view word) noexcept;

/// Appends the workers of a queue.
void append_workers(std::string& json, const QueueWorkers& workers);

/// Appends an instant in milliseconds since the Unix epoch; `null` when there is none.
void append_time(std::string& json, std::optional<TimePoint> at);

/// Appends `"name":…,"arguments":…`; nulls when the job cannot be decoded. Bytes that are no UTF-8
/// become U+FFFD.
void append_job(std::string& json, const std::optional<Job>& job);

/// Appends what became of a push: its job's `id`, null where it has none, and `outcome`.
void append_pushed(std::string& json, const Pushed& pushed);

/// Appends an object of strings.
void append_metadata(std::string& json, const JobMetadata& metadata);

/// Appends `,"batch":…`, null for none.
void append_batch_id(std::string& json, JobBatchId batch);

/// Appends a job with all that the store says of it.
void append_job_status(std::string& json, const JobStatus& status);

/// Appends an explanation, in words, with what it rests on.
void append_explanation(std::string& json, const JobExplanation& explanation);

}  // namespace routemaster::api
