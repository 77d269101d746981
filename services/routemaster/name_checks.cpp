#include "name_checks.hpp"

#include <algorithm>

#include "routemaster/names.hpp"
#include "routemaster/timer.hpp"

namespace routemaster::service {

std::string check_queue_name(const std::string& name) {
    return is_queue_name(name) ? "" : "must be " + std::string{queue_name_rule};
}

std::string check_topic_name(const std::string& name) {
    return is_topic_name(name) ? "" : "must be " + std::string{to_string(TopicRule::any)};
}

std::string check_timer_space(const std::string& name) {
    return is_timer_name(name) ? "" : "must be " + std::string{timer_name_rule};
}

std::string check_not_empty(const std::string& text) {
    return text.empty() ? "must not be empty" : "";
}

std::string check_header_value(const std::string& text) {
    const auto is_control = [](char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; };
    if (std::any_of(text.begin(), text.end(), is_control)) {
        return "must have no control characters";
    }
    return check_not_empty(text);
}

}  // namespace routemaster::service
