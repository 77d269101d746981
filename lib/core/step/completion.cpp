#include "routemaster/step/completion.hpp"

#include <string>

#include "core/store/store_errors.hpp"
#include "routemaster/names.hpp"
#include "routemaster/step/check.hpp"

namespace routemaster {

using detail::at_place;

Result<void> check_follow_ups(std::size_t count, std::size_t bytes) {
    if (count > follow_ups_max) {
        return Error{Errc::invalid,
                     "follow-ups: must be at most " + std::to_string(follow_ups_max)};
    }
    if (bytes > follow_up_bytes_max) {
        return Error{Errc::invalid, "follow-ups: must have at most " +
                                        std::to_string(follow_up_bytes_max) + " bytes"};
    }
    return {};
}

Result<void> CompleteJob::check() const {
    if (auto checked = check_queue(lease.queue); !checked) return checked;
    const auto count = pushes.size() + publications.size();
    if (auto checked = check_follow_ups(count, payload_bytes()); !checked) return checked;
    for (std::size_t i = 0; i < pushes.size(); ++i) {
        if (auto checked = pushes[i].check(); !checked) {
            return at_place("pushes", i, checked.error());
        }
        if (!pushes[i].after.empty()) {
            return at_place("pushes", i,
                            {Errc::invalid, "after: what follows from a job waits for no other"});
        }
        if (pushes[i].queue != delivery_queue) continue;
        return at_place("pushes", i, {Errc::invalid, "queue: is that of deliveries"});
    }
    for (std::size_t i = 0; i < publications.size(); ++i) {
        if (auto checked = publications[i].check(); !checked) {
            return at_place("publications", i, checked.error());
        }
    }
    return {};
}

std::size_t CompleteJob::payload_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const auto& push : pushes) bytes += push.payload_bytes();
    for (const auto& publication : publications) bytes += publication.payload_bytes();
    return bytes;
}

}  // namespace routemaster
