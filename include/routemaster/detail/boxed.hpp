/// @file
/// A value on the heap, so that a variant with this value stays small.

#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace routemaster::detail {

/// A box for one value. A copy of the box copies the value. A moved-from box has no value, and may
/// only be destroyed or assigned to.
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

/// A variant is as large as its largest type. Types larger than this number of bytes are rare, and
/// boxed.
inline constexpr std::size_t unboxed_max = 224;

/// The type that a variant stores for `T`.
template <class T>
using MaybeBoxed = std::conditional_t<(sizeof(T) > unboxed_max), Boxed<T>, T>;

/// The value of a `MaybeBoxed<T>`.
template <class T>
[[nodiscard]] const T& unboxed(const MaybeBoxed<T>& stored) noexcept {
    if constexpr (std::is_same_v<MaybeBoxed<T>, T>) {
        return stored;
    } else {
        return *stored;
    }
}

}  // namespace routemaster::detail
