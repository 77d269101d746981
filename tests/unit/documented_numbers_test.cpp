/// @file
/// The numbers of docs/guarantees.md. All other tests use the names of these numbers.

#include <doctest/doctest.h>

#include <chrono>

#include "core/jobs/state/job_places.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/health.hpp"
#include "routemaster/idempotency_key.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_batch.hpp"
#include "routemaster/job_batches.hpp"
#include "routemaster/job_key.hpp"
#include "routemaster/job_leases.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/push_options.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/recurring_jobs.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/transport/http.hpp"
#include "routemaster/worker_pool_options.hpp"

using namespace routemaster;
using namespace std::chrono_literals;

TEST_CASE("documented numbers: the limits of keys, idempotency keys and ticks are as documented") {
    CHECK(kept_keys_max == 100'000);
    CHECK(idempotency_keys_max == 100'000);
    CHECK(idempotency_time_default == 24h);
    CHECK(PushOptions{}.idempotency_time == 24h);
    CHECK(recurring_step_back_max == 10min);
}

TEST_CASE("documented numbers: the chunk sizes of jobs and timers are as documented") {
    CHECK(job_slice_bytes_max == 4 * 1'024 * 1'024);
    CHECK(released_max == 1'000);
    CHECK(taken_timers_max == 1'000);
    CHECK(timer_slice_bytes_max == 4 * 1'024 * 1'024);
    CHECK(detail::JobPlaces::promoted_max == 1'000);
}

TEST_CASE("documented numbers: the limits of stored data are as documented") {
    CHECK(dead_timers_max == 1'000);
    CHECK(buried_max == 10'000);
    CHECK(job_errors_max == 10);
    CHECK(job_batches_kept_max == 10'000);
    CHECK(job_batches_age_max == 30 * 24h);
}

TEST_CASE("documented numbers: a job is overtaken for at most 200 minutes") {
    CHECK(priority_step == 1min);
    CHECK(2 * priority_max * priority_step == 200min);
}

TEST_CASE("documented numbers: heartbeats, allowed silence and attempts are as documented") {
    CHECK(DispatcherOptions{}.heartbeat_interval == 1s);
    CHECK(DispatcherOptions{}.worker_silence == 3'500ms);
    CHECK(WorkerPoolOptions{}.heartbeat_interval == 1s);
    CHECK(WorkerPoolOptions{}.worker_silence == 3'500ms);
    CHECK(JobLeasesOptions{}.heartbeat_interval == 1s);
    CHECK(JobLeasesOptions{}.worker_silence == 3'500ms);
    CHECK(timer_listener_silence == 1s);
    CHECK(PushOptions{}.attempts_max == 25);
    CHECK(JobOptions{}.attempts_max == 25);
    CHECK(isolated_deaths == 2);
}

TEST_CASE("documented numbers: the largest jobs, batches and responses are as documented") {
    CHECK(PushOptions{}.bytes_max == 1'024 * 1'024);
    CHECK(batch_bytes_max == 1'024 * 1'024);
    CHECK(HttpTransportOptions{}.response_max == 1'024 * 1'024);
}

TEST_CASE("documented numbers: the waits between deliveries are as documented") {
    CHECK(HealthOptions{}.backoff_max == 60s);
    CHECK(delivery_wait_max == 61min);
}
