/// @file
/// Parses an encoded message: `[kind, fields]`. The kind "e" is an event, whose fields are `t`
/// time, `o` topic, `y` type, `u` URL and `d` data.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "core/codec/msgpack_parser.hpp"
#include "core/codec/sink.hpp"
#include "routemaster/event.hpp"

namespace routemaster::detail {

enum class MessageKind {
    event,
    other,        ///< A ping or a kill: valid, but not delivered to subscribers.
    undecodable,  ///< Damaged, of an unknown kind, or an event with a missing or invalid field.
};

/// Sink that splits a message into its fields. Texts are views into the parsed bytes. The data of
/// an event is forwarded to the sink `Data`, which is cleared first.
///
/// The sink is as tolerant as Ruby Routemaster: fields may be in any order, the last of equal
/// fields counts, unknown fields are ignored, and nil data counts as missing.
template <class Data>
class MessageReader {
public:
    /// A timestamp with the number type that the publisher used. It may have a fraction of a
    /// millisecond.
    using Timestamp = std::variant<std::monostate, std::int64_t, std::uint64_t, double>;

    explicit MessageReader(Data& data) noexcept : data_{data} {}

    /// Parses `message`. The members below are valid only after the result `MessageKind::event`.
    [[nodiscard]] MessageKind read(std::string_view message) {
        const bool parsed = parse_msgpack(message, *this);
        if (is_other_) return MessageKind::other;
        const bool complete = !topic_.empty() && type_ && has_url_ &&
                              !std::holds_alternative<std::monostate>(timestamp_);
        return parsed && complete ? MessageKind::event : MessageKind::undecodable;
    }

    [[nodiscard]] std::string_view topic() const noexcept { return topic_; }
    [[nodiscard]] EventType type() const noexcept { return *type_; }
    [[nodiscard]] std::string_view url() const noexcept { return url_; }
    [[nodiscard]] const Timestamp& timestamp() const noexcept { return timestamp_; }
    [[nodiscard]] bool has_data() const noexcept { return has_data_; }

    bool null() {
        if (depth_ == in_fields && at_ == Field::data) {
            has_data_ = false;
            return true;
        }
        return scalar([](Data& data) { return data.null(); });
    }
    bool boolean(bool truth) {
        return scalar([=](Data& data) { return data.boolean(truth); });
    }
    bool integer(std::int64_t number) {
        if (at_ == Field::timestamp) return take_timestamp(number);
        return scalar([=](Data& data) { return data.integer(number); });
    }
    bool natural(std::uint64_t number) {
        if (at_ == Field::timestamp) return take_timestamp(number);
        return scalar([=](Data& data) { return data.natural(number); });
    }
    bool real(double number) {
        if (at_ == Field::timestamp) return std::isfinite(number) && take_timestamp(number);
        return scalar([=](Data& data) { return data.real(number); });
    }
    bool text(std::string_view text) {
        switch (at_) {
            case Field::kind: return take_kind(text);
            case Field::topic: topic_ = text; return true;
            case Field::type: type_ = event_type(text); return type_.has_value();
            case Field::url:
                url_ = text;
                has_url_ = true;
                return true;
            default: return scalar([=](Data& data) { return data.text(text); });
        }
    }
    bool begin_array(std::size_t size) {
        if (depth_++ == 0) {
            at_ = Field::kind;
            return size == 2;
        }
        if (depth_ <= in_fields + 1) return at_ == Field::unknown;
        return forward([=](Data& data) { return data.begin_array(size); });
    }
    bool end_array() {
        if (--depth_ < in_fields) return true;
        return forward([](Data& data) { return data.end_array(); });
    }
    bool begin_map(std::size_t size) {
        if (++depth_ == in_fields) return at_ == Field::none;
        if (depth_ == in_fields + 1) {
            if (at_ != Field::data) return at_ == Field::unknown;
            data_.clear();
            has_data_ = true;
        }
        return depth_ > in_fields && forward([=](Data& data) { return data.begin_map(size); });
    }
    bool key(std::string_view name) {
        if (depth_ == in_fields) {
            at_ = field(name);
            return true;
        }
        return forward([=](Data& data) { return data.key(name); });
    }
    bool end_map() {
        if (--depth_ < in_fields) return true;
        return forward([](Data& data) { return data.end_map(); });
    }

private:
    enum class Field { none, kind, timestamp, topic, type, url, data, unknown };

    /// The nesting depth of the fields, which are in a map inside an array.
    static constexpr std::size_t in_fields = 2;

    [[nodiscard]] static Field field(std::string_view name) noexcept {
        if (name.size() != 1) return Field::unknown;
        switch (name.front()) {
            case 't': return Field::timestamp;
            case 'o': return Field::topic;
            case 'y': return Field::type;
            case 'u': return Field::url;
            case 'd': return Field::data;
            default: return Field::unknown;
        }
    }

    bool take_kind(std::string_view kind) {
        is_other_ = kind == "p" || kind == "k";
        at_ = Field::none;
        return kind == "e";
    }

    bool take_timestamp(Timestamp timestamp) {
        timestamp_ = timestamp;
        return true;
    }

    template <class Call>
    bool forward(Call call) {
        return at_ == Field::data ? call(data_) : at_ == Field::unknown;
    }

    template <class Call>
    bool scalar(Call call) {
        if (depth_ > in_fields) return forward(call);
        return depth_ == in_fields && at_ == Field::unknown;
    }

    Data& data_;
    std::string_view topic_;
    std::string_view url_;
    std::optional<EventType> type_;
    Timestamp timestamp_;
    std::size_t depth_ = 0;
    Field at_ = Field::none;
    bool has_url_ = false;
    bool has_data_ = false;
    bool is_other_ = false;
};

}  // namespace routemaster::detail
