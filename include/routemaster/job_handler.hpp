/// @file
/// The types of job handlers and middleware, and the settings of a handler.

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

/// Function that runs a job. If it returns, the job is done. If it throws, the attempt has failed:
/// the text of the exception is stored as the error, and the job is retried by the `RetryPolicy`.
/// The exceptions `Retry`, `Bury` and `Snooze` override the policy. Handlers of several jobs run
/// concurrently.
///
/// A job may run twice: its worker may crash, or count as dead, before the store has recorded the
/// job as done.
using JobHandler = std::function<void(JobContext&)>;

/// Function that starts a job. The responder reports the end of the job later, from any thread. If
/// the function throws, the attempt fails as for a `JobHandler`, unless its end was reported.
using AsyncJobHandler = std::function<void(JobResponder)>;

/// Function that runs around each handler, which it calls by `next`, at most once. If it returns
/// without this call, the job is done. Exceptions of the handler propagate through `next`. For an
/// asynchronous handler, `next` returns when the job was started.
///
///     pool.use([](rm::JobContext& job, const std::function<void()>& next) {
///         const Span span{"job " + job.name()};
///         next();
///     });
using JobMiddleware = std::function<void(JobContext&, const std::function<void()>& next)>;

/// Settings of one handler.
struct HandlerOptions {
    std::optional<RetryPolicy> retry{};  ///< Replaces the retry policy of the pool.
    /// Timeout of an attempt if the push has set none. 0: no timeout.
    Duration timeout{0};
};

/// A callable that handles jobs of type `T`. Its parameters are the job, and optionally the
/// context.
template <class Handler, class T>
concept HandlesJob = TypedJob<T> && std::copy_constructible<Handler> &&
    (std::is_invocable_v<Handler&, const T&, JobContext&> ||
     std::is_invocable_v<Handler&, const T&>);

}  // namespace routemaster
