#include "core/jobs/state/job_state.hpp"

#include "core/jobs/state/queue_state.hpp"

namespace routemaster::detail {
namespace {

const JobDetails no_details;

bool is_plain(const JobOptions& options) {
    const auto& plain = no_details.options;
    return options.attempts_max == plain.attempts_max && options.priority == plain.priority &&
           options.timeout == plain.timeout && options.expires_at == plain.expires_at &&
           options.key == plain.key && options.metadata.empty() && options.batch == plain.batch;
}

}  // namespace

JobOptions JobState::options() const {
    auto options = details == nullptr ? JobOptions{} : details->options;
    if (in_order && queue.has_ids) options.group = group()->name;
    options.concurrency = concurrency();
    return options;
}

void JobState::take_options(const JobOptions& options) {
    if (in_order) static_cast<GroupedJob&>(*this).set_concurrency(options.concurrency);
    if (details != nullptr || !is_plain(options)) detailed().keep(options);
}

void JobState::settle_details() noexcept {
    if (details != nullptr && *details == no_details) details.reset();
}

}  // namespace routemaster::detail
