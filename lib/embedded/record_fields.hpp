/// @file
/// Encodes and decodes the fields of named entities in a journal row.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <msgpack.hpp>

#include "core/codec/msgpack_writer.hpp"
#include "routemaster/time.hpp"

namespace routemaster::embedded {

class RecordWriter {
public:
    explicit RecordWriter(detail::MsgpackWriter<detail::StringStream>& out) : out_{out} {}

    void text(std::string_view text) { out_.text(text); }
    void natural(std::uint64_t number) { out_.natural(number); }
    void integer(std::int64_t number) { out_.integer(number); }
    void optional_text(const std::optional<std::string>& text) {
        text ? out_.text(*text) : out_.null();
    }
    void optional_time(const std::optional<TimePoint>& time) {
        time ? out_.integer(to_milliseconds(*time)) : out_.null();
    }
    void texts(const std::set<std::string>& all) {
        out_.begin_array(all.size());
        for (const auto& one : all) out_.text(one);
    }

private:
    detail::MsgpackWriter<detail::StringStream>& out_;
};

/// Reader of the fields of a record, in sequence. All reading members throw `msgpack::type_error`
/// if no field is left, or if the field has another type.
class RecordReader {
public:
    explicit RecordReader(std::span<const msgpack::object> fields) : fields_{fields} {}

    [[nodiscard]] bool more() const noexcept { return !fields_.empty(); }

    std::string text() { return next().as<std::string>(); }
    std::uint64_t natural() { return next().as<std::uint64_t>(); }
    template <class Integer = std::int64_t>
    Integer integer() {
        return next().as<Integer>();
    }
    std::optional<std::string> optional_text() {
        const auto& field = next();
        return field.is_nil() ? std::nullopt : std::optional{field.as<std::string>()};
    }
    std::optional<TimePoint> optional_time() {
        const auto& field = next();
        if (field.is_nil()) return std::nullopt;
        return from_milliseconds(field.as<std::int64_t>());
    }
    std::vector<std::string> texts() { return next().as<std::vector<std::string>>(); }

private:
    const msgpack::object& next() {
        if (fields_.empty()) throw msgpack::type_error{};
        const auto& field = fields_.front();
        fields_ = fields_.subspan(1);
        return field;
    }

    std::span<const msgpack::object> fields_;
};

}  // namespace routemaster::embedded
