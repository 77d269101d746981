/// @file
/// `Result<T>`: a value or an `Error`. A subset of `std::expected<T, Error>`.

#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "routemaster/detail/assert.hpp"
#include "routemaster/error.hpp"

namespace routemaster {

/// Either a value of type `T`, or the error because of which there is none.
///
/// A loop checks the result; a `main` or an example calls `value()`, which throws `Failure`. Thread
/// safety: as safe as `T`.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
    Result(Error error) : state_{std::in_place_index<1>, std::move(error)} {}
    /// Constructs the value in place from `arguments`.
    template <class... Arguments>
    explicit Result(std::in_place_t /*in_place*/, Arguments&&... arguments)
        : state_{std::in_place_index<0>, std::forward<Arguments>(arguments)...} {}

    /// Whether there is a value. The conversion to `bool` returns the same.
    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Returns the value. Calling it without a value is a bug, and an assertion fails.
    T& operator*() & { return checked(); }
    const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
    T operator*() && { return std::move(checked()); }
    T* operator->() { return &checked(); }
    const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

    /// Returns the value; throws `Failure` if there is none. From a temporary the value is moved,
    /// so `for (auto& topic : bus.topics().value())` is safe.
    T& value() & { return throwing(); }
    const T& value() const& { return const_cast<Result*>(this)->throwing(); }
    T value() && { return std::move(throwing()); }

    /// Returns the value, or `fallback` if there is none.
    [[nodiscard]] T value_or(T fallback) const& { return has_value() ? **this : fallback; }

    /// Returns the error. Calling it when there is a value is a bug, and an assertion fails.
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

/// Result of an operation without a value: success, or an error.
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

    /// Returns the error. Calling it after a success is a bug, and an assertion fails.
    [[nodiscard]] const Error& error() const {
        ROUTEMASTER_ASSERT(error_.has_value());
        return *error_;
    }

private:
    std::optional<Error> error_;
};

/// Discards the value of a result: returns success, or the error.
template <class T>
[[nodiscard]] Result<void> without_value(const Result<T>& result) {
    return result ? Result<void>{} : Result<void>{result.error()};
}

}  // namespace routemaster
