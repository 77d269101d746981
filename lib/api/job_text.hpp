/// @file
/// Printer for jobs in the JSON of responses.

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

[[nodiscard]] std::string_view to_string(JobStatus::State state) noexcept;

[[nodiscard]] std::optional<JobStatus::State> job_state(std::string_view word) noexcept;

void append_workers(std::string& json, const QueueWorkers& workers);

void append_time(std::string& json, std::optional<TimePoint> at);

/// Appends `"name":…,"arguments":…`; both are null if the job cannot be decoded. Invalid UTF-8
/// becomes U+FFFD.
void append_job(std::string& json, const std::optional<Job>& job);

void append_pushed(std::string& json, const Pushed& pushed);

void append_metadata(std::string& json, const JobMetadata& metadata);

/// Appends `,"batch":…`, which is null without a batch.
void append_batch_id(std::string& json, JobBatchId batch);

void append_job_status(std::string& json, const JobStatus& status);

void append_explanation(std::string& json, const JobExplanation& explanation);

}  // namespace routemaster::api
