/// @file
/// `Value`: data that MessagePack and JSON can both represent. The `data` of an event and the
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

/// Variant of null, boolean, number, text, list, and map. A map has text keys and a fixed order.
///
/// Thread safety: a value.
class Value {
public:
    /// A list of values.
    using Array = std::vector<Value>;
    /// Pairs of key and value, in insertion order.
    using Map = std::vector<std::pair<std::string, Value>>;
    /// The variant inside a value. Every integer that fits into 64 signed bits is stored as
    /// `std::int64_t`, never as `std::uint64_t`.
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

    /// Accepts any integer type. Only numbers above the signed range are stored as unsigned.
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

    /// Returns the content as a variant, for `std::visit`.
    [[nodiscard]] const Content& content() const noexcept { return content_; }

    /// Whether the value is null.
    [[nodiscard]] bool is_null() const noexcept {
        return std::holds_alternative<std::monostate>(content_);
    }

    /// Returns the content as a `T`; null if the content has another type.
    template <class T>
    [[nodiscard]] const T* get_if() const noexcept {
        return std::get_if<T>(&content_);
    }

    /// Returns the value of a map's key; null if this value is not a map, or has no such key.
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
