/// @file
/// `JobResponder`: lets an asynchronous handler report the end of its job later.
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

/// Handle by which an asynchronous handler reports the end of its job. Only the first report has an
/// effect, unless it comes after the timeout of the job or after the destruction of the pool. A
/// responder may outlive its pool.
///
/// All copies share one report. If the last copy is destroyed without a report, the attempt has
/// failed, so no job stays leased after an exception or a lost callback.
///
/// Thread safety: all members may be called from any thread. Assigning to an object that another
/// thread uses needs a lock, as with a `std::shared_ptr`.
class JobResponder {
public:
    explicit JobResponder(std::shared_ptr<detail::Response> response)
        : response_{std::move(response)} {}

    /// The context of the job, valid as long as the responder.
    [[nodiscard]] JobContext& context() const noexcept;

    /// Reports success: the job is done.
    void done() const;
    /// Reports a failure: the job is retried by the `RetryPolicy`.
    void fail(const std::string& error) const;
    /// Like `fail` with a text, but the rules of the policy are also checked for this exception.
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
