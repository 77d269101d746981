/// @file
/// A parser sink that builds a job from the encoded form `[name, [argument, …]]`.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/codec/value_builder.hpp"
#include "routemaster/job.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// Sink that builds a job directly, without moving the arguments from a generic value afterwards,
/// because workers decode every job. Stops the parser at anything but a job.
///
/// Thread safety: a value.
class JobBuilder {
public:
    bool null() {
        return add(Value{}, [](ValueBuilder& nested) { return nested.null(); });
    }
    bool boolean(bool truth) {
        return add(truth, [=](ValueBuilder& nested) { return nested.boolean(truth); });
    }
    bool integer(std::int64_t number) {
        return add(number, [=](ValueBuilder& nested) { return nested.integer(number); });
    }
    bool natural(std::uint64_t number) {
        return add(number, [=](ValueBuilder& nested) { return nested.natural(number); });
    }
    bool real(double number) {
        return add(number, [=](ValueBuilder& nested) { return nested.real(number); });
    }
    bool text(std::string_view text) {
        if (depth_ != in_job) {
            return add(text, [=](ValueBuilder& nested) { return nested.text(text); });
        }
        if (name_) return false;
        name_ = text;
        return true;
    }
    bool begin_array(std::size_t size) {
        switch (depth_++) {
            case 0: return size == 2;
            case in_job:
                if (!name_) return false;
                arguments_.reserve(std::min(size, reserved_max));
                return true;
            default: return nested_.begin_array(size);
        }
    }
    bool end_array() {
        if (depth_-- > in_arguments) {
            nested_.end_array();
            add_nested();
        }
        return true;
    }
    bool begin_map(std::size_t size) { return depth_++ >= in_arguments && nested_.begin_map(size); }
    bool key(std::string_view name) { return nested_.key(name); }
    bool end_map() {
        --depth_;
        nested_.end_map();
        add_nested();
        return true;
    }

    /// Returns the job. To be called once, after the parser has succeeded.
    [[nodiscard]] Job result() { return {*std::move(name_), std::move(arguments_)}; }

private:
    static constexpr std::size_t in_job = 1, in_arguments = 2;
    static constexpr std::size_t reserved_max = 8;

    template <class Scalar, class AddTo>
    bool add(Scalar argument, AddTo add_to) {
        if (depth_ != in_arguments) return depth_ > in_arguments && add_to(nested_);
        arguments_.emplace_back(argument);
        return true;
    }
    void add_nested() {
        if (depth_ == in_arguments) arguments_.push_back(nested_.result());
    }

    std::optional<std::string> name_;
    Value::Array arguments_;
    ValueBuilder nested_;
    std::size_t depth_ = 0;
};

}  // namespace routemaster::detail
