#include "routemaster/event.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/codec/utf8.hpp"
#include "routemaster/codec/json_text.hpp"

namespace routemaster {
namespace {

Error invalid(std::string_view field, std::string_view problem) {
    return {Errc::invalid, std::string{field} + ": " + std::string{problem}};
}

/// A key that occurs in a map more than once; null when there is none. Takes n log n steps at most,
/// since whoever sends the keys chooses how many there are.
const std::string* repeated_key(const Value::Map& map) {
    constexpr std::size_t few = 8;
    if (map.size() <= few) {
        for (auto one = map.begin(); one != map.end(); ++one) {
            const auto same = [&](const auto& other) { return other.first == one->first; };
            if (std::any_of(map.begin(), one, same)) return &one->first;
        }
        return nullptr;
    }
    std::vector<const std::string*> keys;
    keys.reserve(map.size());
    for (const auto& [key, value] : map) keys.push_back(&key);
    std::sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a < *b; });
    const auto found = std::adjacent_find(keys.begin(), keys.end(),
                                          [](const auto* a, const auto* b) { return *a == *b; });
    return found == keys.end() ? nullptr : *found;
}

/// Refuses equal keys: each receiver's parser would choose which of their values counts.
Result<void> check_keys(const Value::Map& map) {
    const auto* key = repeated_key(map);
    if (key == nullptr) return {};
    constexpr std::size_t quoted_length_max = 64;
    std::string quoted;
    append_json_text(quoted, std::string_view{*key}.substr(0, quoted_length_max));
    return invalid("data", "contains the key " + quoted + " more than once");
}

/// Finds what JSON cannot carry in the data of an event.
class DataCheck {
public:
    Result<void> operator()(std::monostate) const { return {}; }
    Result<void> operator()(bool) const { return {}; }
    Result<void> operator()(std::int64_t) const { return {}; }
    Result<void> operator()(std::uint64_t) const { return {}; }
    Result<void> operator()(double number) const {
        if (!std::isfinite(number)) return invalid("data", "contains a number that is not finite");
        return {};
    }
    Result<void> operator()(const std::string& text) const {
        if (!detail::is_utf8(text)) return invalid("data", "contains text that is not UTF-8");
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
            if (!detail::is_utf8(key)) return invalid("data", "contains a key that is not UTF-8");
            if (auto checked = std::visit(*this, value.content()); !checked) return checked;
        }
        --depth_;
        return check_keys(map);
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
