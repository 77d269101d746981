/// @file
/// `WorkerProfiles`: what the workers report about themselves.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/jobs/state/leases.hpp"
#include "core/jobs/state/served_queues.hpp"
#include "routemaster/listed_worker.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster::detail {

/// View of the workers in a `LeaseTable` with their profiles. Records the profile in each
/// heartbeat, and counts and lists the workers. Not thread safe.
class WorkerProfiles {
public:
    /// `leases` must outlive the object.
    explicit WorkerProfiles(LeaseTable& leases) : leases_{leases} {}

    void note(const Heartbeat& heartbeat, TimePoint now);

    [[nodiscard]] QueueWorkers of_queue(std::string_view queue, std::string_view handler,
                                        TimePoint now) const;
    /// The number of live workers by queue. The empty name counts workers without a profile.
    [[nodiscard]] std::map<std::string, std::uint64_t, std::less<>> count_by_queue(
        TimePoint now) const;
    [[nodiscard]] std::optional<TimePoint> last_of(std::string_view queue) const {
        return served_.last(queue);
    }
    [[nodiscard]] std::vector<ListedWorker> list(const Page& page) const;

private:
    LeaseTable& leases_;
    ServedQueues served_;
};

}  // namespace routemaster::detail
