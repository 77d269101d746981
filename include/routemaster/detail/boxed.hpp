/// @file
/// A value in memory of its own, so that a variant with it stays small.

#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace routemaster::detail {

/// Copied as its value is. Moved from, it has none, and is only to be destroyed or assigned to.
template <class T>
class Boxed {
public:
    explicit Boxed(T value) : value_{std::make_unique<T>(std::move(value))} {}
    Boxed(const Boxed& other) : value_{std::make_unique<T>(*other)} {}
    Boxed(Boxed&&) noexcept = default;
    Boxed& operator=(const Boxed& other) { return *this = Boxed{other}; }
    Boxed& operator=(Boxed&&) noexcept = default;
    ~Boxed() = default;

    [[nodiscard]] T& operator*() noexcept { return *value_; }
    [[nodiscard]] const T& operator*() const noexcept { return *value_; }

    friend bool operator==(const Boxed& a, const Boxed& b) { return *a == *b; }

private:
    std::unique_ptr<T> value_;
};

/// A variant takes as much as the largest of its types. Those beyond this are rare, and boxed.
inline constexpr std::size_t unboxed_max = 224;

/// What a variant has of a type.
template <class T>
using MaybeBoxed = std::conditional_t<(sizeof(T) > unboxed_max), Boxed<T>, T>;

/// The value of what a variant has.
template <class T>
[[nodiscard]] const T& unboxed(const MaybeBoxed<T>& stored) noexcept {
    if constexpr (std::is_same_v<MaybeBoxed<T>, T>) {
        return stored;
    } else {
        return *stored;
    }
}

}  // namespace routemaster::detail
