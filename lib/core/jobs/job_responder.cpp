#include "routemaster/job_responder.hpp"

#include <algorithm>

#include "core/jobs/work/pool/handler_table.hpp"
#include "core/jobs/work/pool/job_verdict.hpp"
#include "core/jobs/work/pool/response.hpp"

namespace routemaster {

using detail::JobVerdict;

JobContext& JobResponder::context() const noexcept { return response_->attempt().context; }

void JobResponder::done() const { response_->report({}); }

void JobResponder::fail(const std::string& error) const {
    response_->report({.kind = JobVerdict::Kind::failed, .error = detail::kept_text(error)});
}

void JobResponder::fail(const std::exception& error) const {
    response_->report(detail::verdict_of(error, response_->attempt().handler.retry));
}

void JobResponder::retry(Duration delay, const std::string& error) const {
    response_->report({.kind = JobVerdict::Kind::retry,
                       .error = detail::kept_text(error),
                       .delay = std::max(delay, Duration{0})});
}

void JobResponder::bury(const std::string& reason) const {
    response_->report({.kind = JobVerdict::Kind::bury, .error = detail::kept_text(reason)});
}

void JobResponder::snooze(Duration delay) const {
    response_->report({.kind = JobVerdict::Kind::snoozed, .delay = std::max(delay, Duration{0})});
}

}  // namespace routemaster
