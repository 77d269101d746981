#include "routemaster/store/step/completion.hpp"

#include <string>

#include "core/store/store_errors.hpp"
#include "routemaster/store/step/check.hpp"

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

namespace {

template <class S>
Result<void> check_all(const char* list, const std::vector<S>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (auto checked = steps[i].check(); !checked) return at_place(list, i, checked.error());
    }
    return {};
}

template <class S>
std::size_t payload_bytes_of(const std::vector<S>& steps) noexcept {
    std::size_t bytes = 0;
    for (const auto& step : steps) bytes += step.payload_bytes();
    return bytes;
}

Result<void> check_pushes(const std::vector<PushJob>& pushes) {
    for (std::size_t i = 0; i < pushes.size(); ++i) {
        if (auto checked = pushes[i].check(); !checked) {
            return at_place("pushes", i, checked.error());
        }
        if (!pushes[i].after.empty()) {
            return at_place("pushes", i,
                            {Errc::invalid, "after: a follow-up cannot wait for other jobs"});
        }
        if (!pushes[i].idempotency_key.text.empty()) {
            return at_place("pushes", i,
                            {Errc::invalid, "idempotency_key: is not allowed in a follow-up"});
        }
        if (auto checked = check_not_deliveries("queue", pushes[i].queue); !checked) {
            return at_place("pushes", i, checked.error());
        }
    }
    return {};
}

}  // namespace

Result<void> CompleteJob::check() const {
    if (auto checked = check_queue(lease.queue); !checked) return checked;
    const auto count = pushes.size() + publications.size() + timers.size();
    if (auto checked = check_follow_ups(count, payload_bytes()); !checked) return checked;
    if (auto checked = check_pushes(pushes); !checked) return checked;
    if (auto checked = check_all("publications", publications); !checked) return checked;
    return check_all("timers", timers);
}

std::size_t CompleteJob::payload_bytes() const noexcept {
    return payload_bytes_of(pushes) + payload_bytes_of(publications) + payload_bytes_of(timers);
}

Result<void> CompleteTimer::check() const {
    if (auto checked = ConfirmTimer{space, id, retries}.check(); !checked) return checked;
    const auto count = pushes.size() + publications.size() + timers.size();
    if (auto checked = check_follow_ups(count, payload_bytes()); !checked) return checked;
    if (auto checked = check_pushes(pushes); !checked) return checked;
    if (auto checked = check_all("publications", publications); !checked) return checked;
    return check_all("timers", timers);
}

std::size_t CompleteTimer::payload_bytes() const noexcept {
    return payload_bytes_of(pushes) + payload_bytes_of(publications) + payload_bytes_of(timers);
}

}  // namespace routemaster
