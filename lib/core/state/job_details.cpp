#include "core/state/job_details.hpp"

#include <algorithm>
#include <string>

#include "core/codec/cut_text.hpp"

namespace routemaster::detail {

void JobDetails::add_error(std::string_view text, TimePoint at) {
    if (errors.size() == job_errors_max) errors.erase(errors.begin());
    errors.push_back({attempts, at, std::string{cut_text(text, job_error_max)}});
}

bool JobDetails::needs_isolation() const noexcept {
    if (errors.size() < 2 || attempts < 2 || errors.back().attempt + 1 < attempts) return false;
    const auto died = [](const JobError& error) { return error.text == unreported_error; };
    return std::all_of(errors.end() - 2, errors.end(), died);
}

}  // namespace routemaster::detail
