/// @file
/// `Result<T>`: a value or an `Error`. A subset of `std::expected<T, Error>`.

#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "routemaster/detail/assert.hpp"
#include "routemaster/error.hpp"

namespace routemaster {

/// Either a `T`, or the error that explains why there is no `T`.
///
/// A loop branches on the result; a `main` or an example calls `value()`, which throws `Failure`.
/// Thread safety: as safe as `T`.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
    Result(Error error) : state_{std::in_place_index<1>, std::move(error)} {}
    /// Constructs the value in place from these arguments.
    template <class... Arguments>
    explicit Result(std::in_place_t /*in_place*/, Arguments&&... arguments)
        : state_{std::in_place_index<0>, std::forward<Arguments>(arguments)...} {}

    /// Whether there is a value. The conversion to `bool` returns this, too.
    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// The value. Must not be called without a value: this is a bug, and an assertion fails.
    T& operator*() & { return checked(); }
    const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
    T operator*() && { return std::move(checked()); }
    T* operator->() { return &checked(); }
    const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

    /// The value; throws `Failure` if there is none. From a temporary the value is moved, and
    /// therefore `for (auto& topic : bus.topics().value())` is safe.
    T& value() & { return throwing(); }
    const T& value() const& { return const_cast<Result*>(this)->throwing(); }
    T value() && { return std::move(throwing()); }

    /// The value, or `fallback` if there is none.
    [[nodiscard]] T value_or(T fallback) const& { return has_value() ? **this : fallback; }

    /// The error. Must not be called if there is a value: this is a bug, and an assertion fails.
    [[nodiscard]] const Error& error() const {
        ROUTEMASTER_ASSERT(!has_value());
        return *std::get_if<1>(&state_);
    }

private:
    T& checked() {
        ROUTEMASTER_ASSERT(has_value());
        return *std::get_if<0>(&state_);
    }
    T& throwing() {
        if (!has_value()) throw Failure{error()};
        return *std::get_if<0>(&state_);
    }

    std::variant<T, Error> state_;
};

/// Success without a value, or an error.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_{std::move(error)} {}

    [[nodiscard]] bool has_value() const noexcept { return !error_; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Throws `Failure` if there is an error.
    void value() const {
        if (error_) throw Failure{*error_};
    }

    /// The error. Must not be called after a success: this is a bug, and an assertion fails.
    [[nodiscard]] const Error& error() const {
        ROUTEMASTER_ASSERT(error_.has_value());
        return *error_;
    }

private:
    std::optional<Error> error_;
};

/// The result without its value: success, or the error.
template <class T>
[[nodiscard]] Result<void> without_value(const Result<T>& result) {
    return result ? Result<void>{} : Result<void>{result.error()};
}

}  // namespace routemaster
