/// @file
/// The forms of a handler of jobs, and what may be said of it.

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

/// Does a job. To return means that it is done; to throw, that the attempt failed: its text is kept
/// as the error, and the job runs again as the `RetryPolicy` says. `Retry`, `Bury` and `Snooze` say
/// something else. Handlers of several jobs run at once.
///
/// A job may be done twice: its worker may die, or be taken for dead, before the store knows that
/// it was done.
using JobHandler = std::function<void(JobContext&)>;

/// Begins a job, whose end the responder reports later, from any thread. To throw means that it
/// failed, as for a `JobHandler`, unless the responder has reported already.
using AsyncJobHandler = std::function<void(JobResponder)>;

/// Runs around handlers: calls `next` once, or throws, or returns without calling it, which means
/// that the job is done. What handlers throw passes through it. Around the asynchronous ones it
/// sees their beginning alone.
///
///     pool.use([](rm::JobContext& job, const std::function<void()>& next) {
///         const Span span{"job " + job.name()};
///         next();
///     });
using JobMiddleware = std::function<void(JobContext&, const std::function<void()>& next)>;

/// Settings of one handler.
struct HandlerOptions {
    std::optional<RetryPolicy> retry{};  ///< Instead of the pool's.
    /// How long an attempt may take if its push did not say. 0: as long as it likes.
    Duration timeout{0};
};

/// What may handle jobs of type `T`: it is called with the job, and with its context if it wants.
template <class Handler, class T>
concept HandlesJob = TypedJob<T> && std::copy_constructible<Handler> &&
    (std::is_invocable_v<Handler&, const T&, JobContext&> ||
     std::is_invocable_v<Handler&, const T&>);

}  // namespace routemaster
