#include "routemaster/store/step/job_batches.hpp"

#include <cstddef>
#include <limits>
#include <string>

#include "core/codec/metadata_check.hpp"
#include "core/codec/utf8.hpp"
#include "routemaster/error.hpp"
#include "routemaster/store/step/check.hpp"

namespace routemaster {
namespace {

constexpr std::size_t batch_entries = 1;

Result<void> check_callback(const char* field, const JobBatchCallback& callback) {
    const auto at_field = [&](const std::string& text) {
        return Error{Errc::invalid, std::string{field} + ": " + text};
    };
    if (auto checked = check_own_queue(callback.queue); !checked) {
        return at_field(checked.error().context());
    }
    if (callback.job.size() > batch_callback_bytes_max) {
        return at_field("job: must have at most " + std::to_string(batch_callback_bytes_max) +
                        " bytes");
    }
    // The longest push possible for the callback.
    const auto push =
        push_of(callback, std::numeric_limits<JobBatchId>::max(), "success", TimePoint{});
    auto checked = detail::check_metadata(push.options.metadata, batch_entries);
    if (checked) checked = push.check();
    if (!checked) return at_field(checked.error().context());
    return {};
}

}  // namespace

PushJob push_of(const JobBatchCallback& callback, JobBatchId batch, const char* event,
                TimePoint now) {
    const auto id = std::to_string(batch);
    PushJob push{.queue = callback.queue, .job = callback.job, .run_at = now};
    push.options = {.attempts_max = callback.attempts_max,
                    .priority = callback.priority,
                    .timeout = callback.timeout};
    push.options.metadata = callback.metadata;
    push.options.metadata.insert_or_assign("batch", id);
    // The unique key makes the store accept the push even if an equal job exists.
    push.options.key.text = "batch:" + id + ":" + event;
    return push;
}

Result<void> CreateJobBatch::check() const {
    const auto& name = settings->name;
    if (name.empty() || name.size() > job_batch_name_max) {
        return Error{Errc::invalid,
                     "name: must have 1 to " + std::to_string(job_batch_name_max) + " bytes"};
    }
    if (!detail::is_utf8(name) || name.find('\0') != std::string::npos) {
        return Error{Errc::invalid, "name: must be UTF-8 without NUL"};
    }
    if (settings->on_success) {
        if (auto checked = check_callback("on_success", *settings->on_success); !checked) {
            return checked;
        }
    }
    return settings->on_end ? check_callback("on_end", *settings->on_end) : Result<void>{};
}

Result<void> ListJobBatches::check() const {
    if (limit >= 1 && limit <= job_batches_listed_max) return {};
    return Error{Errc::invalid,
                 "limit: must be from 1 to " + std::to_string(job_batches_listed_max)};
}

}  // namespace routemaster
