/// @file
/// `Sink`: the interface through which a parser reports the parts of a value. Parsers, printers and
/// builders share the interface. Any parser can thus feed any sink in one pass.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "routemaster/value.hpp"

namespace routemaster::detail {

/// Receiver of a value. A value is a scalar, or `begin_…`, the items, and `end_…`. In a map, a key
/// precedes each item. Each member returns whether the parser should continue. A size is only what
/// the input claims, and may be false.
template <class S>
concept Sink = requires(S& sink, std::string_view text, std::size_t size) {
    { sink.null() } -> std::same_as<bool>;
    { sink.boolean(true) } -> std::same_as<bool>;
    { sink.integer(std::int64_t{}) } -> std::same_as<bool>;
    { sink.natural(std::uint64_t{}) } -> std::same_as<bool>;
    { sink.real(0.5) } -> std::same_as<bool>;
    { sink.text(text) } -> std::same_as<bool>;
    { sink.begin_array(size) } -> std::same_as<bool>;
    { sink.end_array() } -> std::same_as<bool>;
    { sink.begin_map(size) } -> std::same_as<bool>;
    { sink.key(text) } -> std::same_as<bool>;
    { sink.end_map() } -> std::same_as<bool>;
};

/// Reports `value` to a sink that never stops.
template <Sink S>
void report(const Value& value, S& sink) {
    struct Visitor {
        S& sink;
        void operator()(std::monostate) const { sink.null(); }
        void operator()(bool truth) const { sink.boolean(truth); }
        void operator()(std::int64_t number) const { sink.integer(number); }
        void operator()(std::uint64_t number) const { sink.natural(number); }
        void operator()(double number) const { sink.real(number); }
        void operator()(const std::string& text) const { sink.text(std::string_view{text}); }
        void operator()(const Value::Array& array) const {
            sink.begin_array(array.size());
            for (const auto& item : array) report(item, sink);
            sink.end_array();
        }
        void operator()(const Value::Map& map) const {
            sink.begin_map(map.size());
            for (const auto& [name, item] : map) {
                sink.key(std::string_view{name});
                report(item, sink);
            }
            sink.end_map();
        }
    };
    std::visit(Visitor{sink}, value.content());
}

}  // namespace routemaster::detail
