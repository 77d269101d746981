/// @file
/// `JobResponder`: the end of a job that its handler reports later.
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

/// Reports what became of a job. The first report counts, and those after it do nothing. So does
/// one that comes too late: after the timeout, or after the end of the pool, which it may outlive.
///
/// Copies are the same responder. When the last of them ends without a report, the attempt has
/// failed: an exception somewhere, or a request that was forgotten, leaves no job behind.
///
/// Thread safety: all members may be called from any thread; of one object, as of a `shared_ptr`.
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
    /// The same; rules of the policy are asked about the exception.
    void fail(const std::exception& error) const;
    /// As if the handler had thrown `Retry`.
    void retry(Duration delay, const std::string& error) const;
    /// As if the handler had thrown `Bury`.
    void bury(const std::string& reason) const;
    /// As if the handler had thrown `Snooze`.
    void snooze(Duration delay) const;

private:
    std::shared_ptr<detail::Response> response_;
};

}  // namespace routemaster
