#include "core/jobs/work/pool/job_verdict.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "core/codec/utf8.hpp"
#include "routemaster/job_exceptions.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::detail {

std::string kept_text(std::string_view error) {
    std::string kept;
    kept.reserve(std::min(error.size(), job_error_max));
    while (!error.empty()) {
        const auto length = std::max<std::size_t>(1, utf8_length(error));
        if (kept.size() + length > job_error_max) break;
        if (utf8_length(error) == 0) {
            kept.push_back('?');
        } else {
            kept.append(error.substr(0, length));
        }
        error.remove_prefix(length);
    }
    return kept;
}

JobVerdict failed_verdict(const char* error) noexcept {
    JobVerdict verdict{.kind = JobVerdict::Kind::failed};
    try {
        verdict.error = error;
    } catch (const std::bad_alloc&) {
        verdict.error = "out of memory";  // Short enough to need no allocation.
    }
    return verdict;
}

JobVerdict verdict_of(const std::exception& error, const RetryPolicy& policy) {
    const auto says = [](JobVerdict::Kind kind, std::string text, Duration delay = Duration{0}) {
        return JobVerdict{kind, std::move(text), std::max(delay, Duration{0}), nullptr};
    };
    if (const auto* snooze = dynamic_cast<const Snooze*>(&error)) {
        return says(JobVerdict::Kind::snoozed, {}, snooze->delay());
    }
    auto text = kept_text(error.what());
    if (const auto* retry = dynamic_cast<const Retry*>(&error)) {
        return says(JobVerdict::Kind::retry, std::move(text), retry->delay());
    }
    if (dynamic_cast<const Bury*>(&error) != nullptr) {
        return says(JobVerdict::Kind::bury, std::move(text));
    }
    auto verdict = says(JobVerdict::Kind::failed, std::move(text));
    verdict.rule = policy.rule_for(error);
    return verdict;
}

}  // namespace routemaster::detail
