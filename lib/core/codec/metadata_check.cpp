#include "core/codec/metadata_check.hpp"

#include <string>

#include "routemaster/error.hpp"

namespace routemaster::detail {

Result<void> check_metadata(const JobMetadata& metadata, std::size_t added) {
    if (metadata.size() > job_metadata_max) {
        return Error{Errc::invalid,
                     "metadata: must have at most " + std::to_string(job_metadata_max - added) +
                         " entries" +
                         (added > 0 ? " beside the entries that routemaster adds" : "")};
    }
    if (metadata.contains("")) return Error{Errc::invalid, "metadata: a name must not be empty"};
    if (bytes_of(metadata) > job_metadata_bytes_max) {
        return Error{Errc::invalid,
                     "metadata: must have at most " + std::to_string(job_metadata_bytes_max) +
                         " bytes" +
                         (added > 0 ? " including the entries that routemaster adds" : "")};
    }
    return {};
}

}  // namespace routemaster::detail
