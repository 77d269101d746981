/// @file
/// A parser sink that builds a `Value`.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/value.hpp"

namespace routemaster::detail {

/// Removes repeated keys from `map`. As in a Ruby hash, a key stays at its first position and gets
/// its last value. Takes n log n steps, because a client may send any number of keys.
void keep_last_of_equal_keys(Value::Map& map);

/// Sink that builds a `Value`. Allocates nothing for claimed sizes, because a claim may be false.
///
/// Thread safety: a value.
class ValueBuilder {
public:
    bool null() { return take(Value{}); }
    bool boolean(bool truth) { return take(Value{truth}); }
    bool integer(std::int64_t number) { return take(Value{number}); }
    bool natural(std::uint64_t number) { return take(Value{number}); }
    bool real(double number) { return take(Value{number}); }
    bool text(std::string_view text) { return take(Value{text}); }
    bool text(std::string&& text) { return take(Value{std::move(text)}); }

    bool begin_array(std::size_t size) {
        Value::Array array;
        array.reserve(std::min(size, reserved_max));
        open_.emplace_back(std::move(array));
        return true;
    }
    bool begin_map(std::size_t size) {
        Value::Map map;
        map.reserve(std::min(size, reserved_max));
        open_.emplace_back(std::move(map));
        return true;
    }
    bool key(std::string_view name) { return key(std::string{name}); }
    bool key(std::string&& name) {
        // Constructed in place, because GCC warns of an uninitialized value when a pair is moved.
        std::get<Value::Map>(open_.back()).emplace_back().first = std::move(name);
        return true;
    }
    bool end_array() {
        Value::Array array = std::move(std::get<Value::Array>(open_.back()));
        open_.pop_back();
        return take(Value{std::move(array)});
    }
    bool end_map() {
        Value::Map map = std::move(std::get<Value::Map>(open_.back()));
        open_.pop_back();
        keep_last_of_equal_keys(map);
        return take(Value{std::move(map)});
    }

    /// Returns the value. To be called once, after the parser has succeeded.
    [[nodiscard]] Value result() { return std::move(result_); }

    void clear() {
        open_.clear();
        result_ = Value{};
    }

private:
    static constexpr std::size_t reserved_max = 8;

    bool take(Value value) {
        if (open_.empty()) {
            result_ = std::move(value);
        } else if (auto* array = std::get_if<Value::Array>(&open_.back())) {
            array->push_back(std::move(value));
        } else {
            std::get<Value::Map>(open_.back()).back().second = std::move(value);
        }
        return true;
    }

    std::vector<std::variant<Value::Array, Value::Map>> open_;  ///< Outermost first.
    Value result_;
};

}  // namespace routemaster::detail
