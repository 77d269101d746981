/// @file
/// `JobResponder`: lets a handler report the end of its job later.
///
///     pool.handle_async("fetch", [&](rm::JobResponder responder) {
///         const auto url = url_of(responder.context());
///         http.get(url, [responder](const Response& response) mutable {
///             response.good() ? responder.done() : responder.fail(response.reason());
///         });
///     });

#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "routemaster/job_context.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

namespace detail {
class Response;
}  // namespace detail

/// Reports the end of a job. The first report counts, and later reports do nothing. A report after
/// the timeout of the job or after the end of the pool does nothing either. A responder may outlive
/// its pool.
///
/// Copies are one responder. When the last copy is destroyed without a report, the attempt has
/// failed, so no job stays leased after an exception or a forgotten request.
///
/// Thread safety: all members may be called from any thread. Assigning to an object that another
/// thread uses needs a lock, as with a `std::shared_ptr`.
class JobResponder {
public:
    explicit JobResponder(std::shared_ptr<detail::Response> response)
        : response_{std::move(response)} {}

    /// The job. It lives as long as the responder.
    [[nodiscard]] JobContext& context() const noexcept;

    /// The job is done.
    void done() const;
    /// The attempt failed, and the job runs again as the `RetryPolicy` says.
    void fail(const std::string& error) const;
    /// Like `fail` with a text; the rules of the policy are checked against the exception.
    void fail(const std::exception& error) const;
    /// Ends the attempt as if the handler had thrown `Retry`.
    void retry(Duration delay, const std::string& error) const;
    /// Ends the attempt as if the handler had thrown `Bury`.
    void bury(const std::string& reason) const;
    /// Ends the attempt as if the handler had thrown `Snooze`.
    void snooze(Duration delay) const;

private:
    std::shared_ptr<detail::Response> response_;
};

}  // namespace routemaster
