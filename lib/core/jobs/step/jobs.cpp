#include "routemaster/store/step/jobs.hpp"

#include <algorithm>
#include <string>

#include "core/codec/metadata_check.hpp"
#include "core/codec/utf8.hpp"
#include "routemaster/store/step/job_lists.hpp"

namespace routemaster {
namespace {

Result<void> check_page_limit(std::uint32_t limit) {
    if (limit >= 1 && limit <= jobs_looked_at_max) return {};
    return Error{Errc::invalid, "limit: must be from 1 to " + std::to_string(jobs_looked_at_max)};
}

Result<void> check_after(const PushJob& push) {
    const auto& after = push.after;
    if (after.empty()) return {};
    if (is_ruby_queue(push.queue)) {
        return Error{Errc::invalid, "after: jobs of Ruby Routemaster's queues have no ids"};
    }
    if (after.size() > job_after_max) {
        return Error{Errc::invalid,
                     "after: must be at most " + std::to_string(job_after_max) + " jobs"};
    }
    if (std::find(after.begin(), after.end(), JobId{0}) != after.end()) {
        return Error{Errc::invalid, "after: 0 is not a job id"};
    }
    // Redis stores numbers as doubles, which are exact only below 2^53.
    if (*std::max_element(after.begin(), after.end()) >= JobId{1} << 53) {
        return Error{Errc::invalid, "after: ids of jobs are less than 2^53"};
    }
    if (push.on_duplicate == OnDuplicate::keep) return {};
    return Error{Errc::invalid, "after: a push with dependencies cannot replace a job"};
}

Result<void> check_group(const std::string& group, std::uint32_t concurrency) {
    if (group.size() > job_group_max) {
        return Error{Errc::invalid,
                     "group: must have at most " + std::to_string(job_group_max) + " bytes"};
    }
    if (!detail::is_utf8(group) || group.find('\0') != std::string::npos) {
        return Error{Errc::invalid, "group: must be UTF-8 without NUL"};
    }
    if (concurrency < 1 || concurrency > group_concurrency_max) {
        return Error{Errc::invalid,
                     "concurrency: must be from 1 to " + std::to_string(group_concurrency_max)};
    }
    if (group.empty() && concurrency != 1) {
        return Error{Errc::invalid, "concurrency: is allowed only with a group"};
    }
    return {};
}

Result<void> check_idempotency_key(const PushJob& push) {
    const auto& key = push.idempotency_key;
    if (key.text.empty()) return {};
    if (is_ruby_queue(push.queue)) {
        return Error{Errc::invalid, "idempotency_key: is not allowed in Ruby Routemaster's queues"};
    }
    if (key.text.size() > idempotency_key_max) {
        return Error{Errc::invalid, "idempotency_key: must have at most " +
                                        std::to_string(idempotency_key_max) + " bytes"};
    }
    if (key.time >= Duration{0} && key.time <= idempotency_time_max) return {};
    return Error{Errc::invalid, "idempotency_time: must be positive, and at most " +
                                    std::to_string(idempotency_time_max.count()) + " ms"};
}

}  // namespace

Result<void> PushJob::check() const {
    if (auto checked = check_queue(queue); !checked) return checked;
    if (auto checked = check_not_empty("job", job); !checked) return checked;
    if (options.timeout < Duration{0}) {
        return Error{Errc::invalid, "timeout: must not be negative"};
    }
    if (options.priority < -priority_max || options.priority > priority_max) {
        return Error{Errc::invalid, "priority: must be from -" + std::to_string(priority_max) +
                                        " to " + std::to_string(priority_max)};
    }
    if (options.key.text.size() > job_key_max) {
        return Error{Errc::invalid,
                     "key: must have at most " + std::to_string(job_key_max) + " bytes"};
    }
    if (options.key.text.empty() && on_duplicate != OnDuplicate::keep) {
        return Error{Errc::invalid, "on_duplicate: only a job with a key can be replaced"};
    }
    if (auto checked = detail::check_metadata(options.metadata); !checked) return checked;
    if (auto checked = check_group(options.group, options.concurrency); !checked) return checked;
    if (auto checked = check_after(*this); !checked) return checked;
    if (auto checked = check_idempotency_key(*this); !checked) return checked;
    if (options.batch >= JobBatchId{1} << 53U) {
        return Error{Errc::invalid, "batch: ids of batches are less than 2^53"};
    }
    // On Redis, a payload with this first byte would be read as the name of a stored job.
    if (job.front() == '\xc1') return Error{Errc::invalid, "job: begins with the byte 0xc1"};
    if (is_ruby_queue(queue) && options != JobOptions{}) {
        return Error{Errc::invalid, "options: are not allowed in Ruby Routemaster's queues"};
    }
    return {};
}

Result<void> AcquireJobs::check() const {
    if (auto checked = check_queue(queue); !checked) return checked;
    if (newest >= std::uint64_t{1} << 53U) {
        return Error{Errc::invalid, "newest: must be less than 2^53"};
    }
    return check_limit(limit);
}

Result<void> FailJob::check() const {
    if (auto checked = check_own_queue(lease.queue); !checked) return checked;
    if (time_max >= Duration{0}) return {};
    return Error{Errc::invalid, "time_max: must not be negative"};
}

Result<void> ListJobs::check() const {
    if (auto checked = check_own_queue(queue); !checked) return checked;
    if (state > JobStatus::State::buried) {
        return Error{Errc::invalid, "state: must be a state of a job"};
    }
    return check_page_limit(limit);
}

Result<void> KickJobs::check() const {
    if (auto checked = check_own_queue(queue); !checked) return checked;
    return check_page_limit(limit);
}

}  // namespace routemaster
