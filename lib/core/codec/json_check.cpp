#include "core/codec/json_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/codec/utf8.hpp"
#include "routemaster/codec/json_text.hpp"

namespace routemaster::detail {
namespace {

/// The first repeated key of a map, or null. Takes at most n log n steps, because a client may send
/// any number of keys.
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

class JsonCheck {
public:
    JsonCheck(std::string_view field, std::size_t depth_max)
        : field_{field}, depth_max_{depth_max} {}

    Result<void> operator()(std::monostate) const { return {}; }
    Result<void> operator()(bool) const { return {}; }
    Result<void> operator()(std::int64_t) const { return {}; }
    Result<void> operator()(std::uint64_t) const { return {}; }
    Result<void> operator()(double number) const {
        if (!std::isfinite(number)) return invalid("contains a number that is not finite");
        return {};
    }
    Result<void> operator()(const std::string& text) const {
        if (!is_utf8(text)) return invalid("contains text that is not UTF-8");
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
            if (!is_utf8(key)) return invalid("contains a key that is not UTF-8");
            if (auto checked = std::visit(*this, value.content()); !checked) return checked;
        }
        --depth_;
        return check_keys(map);
    }

private:
    [[nodiscard]] Error invalid(std::string_view problem) const {
        return {Errc::invalid, std::string{field_} + ": " + std::string{problem}};
    }
    [[nodiscard]] Result<void> check_keys(const Value::Map& map) const {
        const auto* key = repeated_key(map);
        if (key == nullptr) return {};
        constexpr std::size_t quoted_length_max = 64;
        std::string quoted;
        append_json_text(quoted, std::string_view{*key}.substr(0, quoted_length_max));
        return invalid("contains the key " + quoted + " more than once");
    }
    Result<void> deeper() {
        if (++depth_ > depth_max_) return invalid("is nested too deep");
        return {};
    }

    const std::string_view field_;
    const std::size_t depth_max_;
    std::size_t depth_ = 0;
};

}  // namespace

Result<void> check_for_json(const Value& value, std::string_view field, std::size_t depth_max) {
    JsonCheck check{field, depth_max};
    return std::visit(check, value.content());
}

}  // namespace routemaster::detail
