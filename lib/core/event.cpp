#include "routemaster/event.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/codec/utf8.hpp"

namespace routemaster {
namespace {

Error invalid(std::string_view field, std::string_view problem) {
    return {Errc::invalid, std::string{field} + ": " + std::string{problem}};
}

/// Finds what JSON cannot carry in the data of an event.
class DataCheck {
public:
    Result<void> operator()(std::monostate) const { return {}; }
    Result<void> operator()(bool) const { return {}; }
    Result<void> operator()(std::int64_t) const { return {}; }
    Result<void> operator()(std::uint64_t) const { return {}; }
    Result<void> operator()(double number) const {
        if (!std::isfinite(number)) return invalid("data", "holds a number that is not finite");
        return {};
    }
    Result<void> operator()(const std::string& text) const {
        if (!detail::is_utf8(text)) return invalid("data", "holds text that is no UTF-8");
        return {};
    }
    Result<void> operator()(const Value::Array& array) {
        if (auto entered = deeper(); !entered) return entered;
        for (const auto& value : array) {
            if (auto checked = std::visit(*this, value.content()); !checked) return checked;
        }
        --depth_;
        return {};
    }
    Result<void> operator()(const Value::Map& map) {
        if (auto entered = deeper(); !entered) return entered;
        for (const auto& [key, value] : map) {
            if (!detail::is_utf8(key)) return invalid("data", "holds a key that is no UTF-8");
            if (auto checked = std::visit(*this, value.content()); !checked) return checked;
        }
        --depth_;
        return {};
    }

private:
    Result<void> deeper() {
        if (++depth_ > event_data_depth_max) return invalid("data", "is nested too deep");
        return {};
    }

    std::size_t depth_ = 0;
};

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
    const auto* map = event.data->get_if<Value::Map>();
    if (map == nullptr) return invalid("data", "must be an object");
    return DataCheck{}(*map);
}

}  // namespace routemaster
