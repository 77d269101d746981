#include "routemaster/event.hpp"

#include <string>
#include <string_view>

#include "core/codec/json_check.hpp"

namespace routemaster {
namespace {

Error invalid(std::string_view field, std::string_view problem) {
    return {Errc::invalid, std::string{field} + ": " + std::string{problem}};
}

}  // namespace

Result<void> check(const Event& event, const EventRules& rules) {
    if (!is_topic_name(event.topic, rules.topics)) {
        return invalid("topic", "must be " + std::string{to_string(rules.topics)});
    }
    const bool may_lack_url = rules.urls == UrlRule::any && event.data;
    if (!event.url.empty() || !may_lack_url) {
        if (auto checked = check_url(event.url, "url", rules.urls); !checked) return checked;
    }
    if (!event.data) return {};
    if (event.data->get_if<Value::Map>() == nullptr) return invalid("data", "must be an object");
    return detail::check_for_json(*event.data, "data", event_data_depth_max);
}

}  // namespace routemaster
