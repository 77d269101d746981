#include "routemaster/store/step/check.hpp"

#include <string>

#include "routemaster/names.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster {

static_assert(detail::AllStepsOf<StepDomains>::names_differ());

Result<void> check_limit(std::uint32_t limit) {
    if (limit == 0) return Error{Errc::invalid, "limit: must be at least 1"};
    return {};
}

Result<void> check_topic(std::string_view name) {
    if (is_topic_name(name)) return {};
    return Error{Errc::invalid, "topic: must be " + std::string{to_string(TopicRule::any)}};
}

Result<void> check_queue(std::string_view name) {
    if (is_queue_name(name)) return {};
    return Error{Errc::invalid, "queue: must be " + std::string{queue_name_rule}};
}

Result<void> check_not_deliveries(std::string_view field, std::string_view name) {
    if (name != delivery_queue) return {};
    return Error{Errc::invalid,
                 std::string{field} + ": " + std::string{name} + " is reserved for deliveries"};
}

Result<void> check_own_queue(std::string_view name) {
    if (auto checked = check_queue(name); !checked) return checked;
    if (auto checked = check_not_deliveries("queue", name); !checked) return checked;
    if (!is_ruby_queue(name)) return {};
    return Error{Errc::invalid, "queue: " + std::string{name} +
                                    " belongs to Ruby Routemaster, whose jobs have no ids"};
}

Result<void> check_user_name(std::string_view field, std::string_view name) {
    if (is_user_name(name)) return {};
    return Error{Errc::invalid, std::string{field} + ": must be 1 to 64 of a-z, 0-9, :, _ and -"};
}

Result<void> check_not_empty(std::string_view field, std::string_view text) {
    if (!text.empty()) return {};
    return Error{Errc::invalid, std::string{field} + ": must not be empty"};
}

}  // namespace routemaster
