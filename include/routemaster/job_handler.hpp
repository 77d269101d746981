/// @file
/// The forms of job handlers, and their settings.

#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>

#include "routemaster/job_context.hpp"
#include "routemaster/job_responder.hpp"
#include "routemaster/retry_policy.hpp"
#include "routemaster/time.hpp"
#include "routemaster/typed_job.hpp"

namespace routemaster {

/// Runs a job. When the handler returns, the job is done. When the handler throws, the attempt has
/// failed: the text of the exception is kept as the error, and the job runs again as the
/// `RetryPolicy` says. The exceptions `Retry`, `Bury` and `Snooze` override the policy. Handlers of
/// several jobs run concurrently.
///
/// A job may be done twice: its worker may die, or count as dead, before the store knows that the
/// job was done.
using JobHandler = std::function<void(JobContext&)>;

/// Starts a job. The responder reports the end of the job later, from any thread. When the handler
/// throws, the attempt has failed as for a `JobHandler`, unless the responder has already reported.
using AsyncJobHandler = std::function<void(JobResponder)>;

/// Runs around handlers: calls `next` once, or throws, or returns without a call, and the job is
/// then done. Exceptions of handlers pass through the middleware. An asynchronous handler has only
/// its start inside the middleware.
///
///     pool.use([](rm::JobContext& job, const std::function<void()>& next) {
///         const Span span{"job " + job.name()};
///         next();
///     });
using JobMiddleware = std::function<void(JobContext&, const std::function<void()>& next)>;

/// Settings of one handler.
struct HandlerOptions {
    std::optional<RetryPolicy> retry{};  ///< Replaces the retry policy of the pool.
    /// The time limit of an attempt whose push set no timeout. 0: no limit.
    Duration timeout{0};
};

/// A callable that handles jobs of type `T`. The callable takes the job, and optionally the
/// context.
template <class Handler, class T>
concept HandlesJob = TypedJob<T> && std::copy_constructible<Handler> &&
    (std::is_invocable_v<Handler&, const T&, JobContext&> ||
     std::is_invocable_v<Handler&, const T&>);

}  // namespace routemaster
