/// @file
/// `Value`: data of any shape that MessagePack and JSON can express. The `data` of an event and the
/// arguments of a job are values.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace routemaster {

/// Null, a boolean, a number, a text, a list, or a map with text keys in a fixed order.
///
/// Thread safety: a value.
class Value {
public:
    /// A list of values.
    using Array = std::vector<Value>;
    /// Pairs of key and value, in the order in which they were given.
    using Map = std::vector<std::pair<std::string, Value>>;
    /// The possible types of content. Integers that fit into 64 signed bits are always
    /// `std::int64_t`.
    using Content = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double,
                                 std::string, Array, Map>;

    Value() = default;
    Value(bool truth) : content_{truth} {}
    Value(double number) : content_{number} {}
    Value(std::string text) : content_{std::move(text)} {}
    Value(std::string_view text) : content_{std::string{text}} {}
    Value(const char* text) : content_{std::string{text}} {}
    Value(Array array) : content_{std::move(array)} {}
    Value(Map map) : content_{std::move(map)} {}

    /// Any integer type. Numbers above the signed range stay unsigned.
    template <class Integer>
        requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
    Value(Integer number) {
        if constexpr (std::is_unsigned_v<Integer>) {
            if (static_cast<std::uint64_t>(number) > std::uint64_t{INT64_MAX}) {
                content_ = static_cast<std::uint64_t>(number);
                return;
            }
        }
        content_ = static_cast<std::int64_t>(number);
    }

    /// The content as a variant, to be visited.
    [[nodiscard]] const Content& content() const noexcept { return content_; }

    /// Whether the value is null.
    [[nodiscard]] bool is_null() const noexcept {
        return std::holds_alternative<std::monostate>(content_);
    }

    /// The content as a `T`; a null pointer if the content has another type.
    template <class T>
    [[nodiscard]] const T* get_if() const noexcept {
        return std::get_if<T>(&content_);
    }

    /// The value for a key of a map; a null pointer if this value is not a map, or has no such key.
    [[nodiscard]] const Value* find(std::string_view key) const noexcept {
        const auto* map = get_if<Map>();
        if (map == nullptr) return nullptr;
        for (const auto& [name, value] : *map) {
            if (name == key) return &value;
        }
        return nullptr;
    }

    friend bool operator==(const Value&, const Value&) = default;

private:
    Content content_;
};

}  // namespace routemaster
