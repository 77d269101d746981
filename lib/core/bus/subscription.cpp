#include "routemaster/subscription.hpp"

#include <algorithm>

#include "core/codec/utf8.hpp"

namespace routemaster {
namespace {

Result<void> check_uuid(std::string_view uuid) {
    if (uuid.size() > uuid_length_max) {
        return Error{Errc::invalid,
                     "uuid: must be at most " + std::to_string(uuid_length_max) + " bytes"};
    }
    const auto is_control = [](char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; };
    if (std::any_of(uuid.begin(), uuid.end(), is_control)) {
        return Error{Errc::invalid, "uuid: contains control characters"};
    }
    if (!detail::is_utf8(uuid)) return Error{Errc::invalid, "uuid: is not UTF-8"};
    return {};
}

}  // namespace

Result<void> check(const SubscribeOptions& options) {
    if (options.timeout &&
        (*options.timeout < Duration{0} || *options.timeout > subscription_timeout_max)) {
        return Error{Errc::invalid, "timeout: must be 0 to 3600000 milliseconds"};
    }
    if (options.max_events && *options.max_events == 0) {
        return Error{Errc::invalid, "max: must be at least 1"};
    }
    if (options.max_in_flight &&
        (*options.max_in_flight == 0 || *options.max_in_flight > subscription_in_flight_max)) {
        return Error{Errc::invalid, "max_in_flight: must be 1 to 1000"};
    }
    if (options.attempts_max && *options.attempts_max > subscription_attempts_max) {
        return Error{Errc::invalid, "attempts_max: must be 0 to 1000000"};
    }
    if (options.age_max &&
        (*options.age_max < Duration{0} || *options.age_max > subscription_age_max)) {
        return Error{Errc::invalid, "age_max: must be 0 to 31536000000 milliseconds"};
    }
    if (options.dead_max && (*options.dead_max == 0 || *options.dead_max > subscription_dead_max)) {
        return Error{Errc::invalid, "dead_max: must be 1 to 10000"};
    }
    return check_uuid(options.uuid);
}

Result<void> check(std::string_view token, const std::vector<std::string>& topics,
                   const SubscribeOptions& options, TopicRule rule) {
    if (!is_user_name(token)) {
        return Error{Errc::invalid, "subscriber: must be 1 to 64 of a-z, 0-9, :, _ and -"};
    }
    if (options.callback.empty()) return Error{Errc::invalid, "callback: URL is missing"};
    if (options.callback == local_scheme) {
        return Error{Errc::invalid, "callback: local: must be followed by a name"};
    }
    if (auto checked = check(options); !checked) return checked;
    for (const auto& name : topics) {
        if (!is_topic_name(name, rule)) {
            return Error{Errc::invalid, "topics: each must be " + std::string{to_string(rule)}};
        }
    }
    return {};
}

}  // namespace routemaster
