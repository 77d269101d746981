#include "core/jobs/state/job_details.hpp"

#include <string>

#include "core/codec/cut_text.hpp"

namespace routemaster::detail {

void JobDetails::add_error(std::string_view text, TimePoint at) {
    if (errors.size() == job_errors_max) errors.erase(errors.begin());
    errors.push_back({attempts, at, std::string{cut_text(text, job_error_max)}});
}

}  // namespace routemaster::detail
