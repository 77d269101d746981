/// @file
/// `Boxed<T>`: a value on the heap, which reduces the size of a variant that contains it.

#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace routemaster::detail {

/// Owning pointer with value semantics: a copy copies the value. A moved-from object has no value,
/// and may only be destroyed or assigned to.
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

/// Types larger than this number of bytes are boxed in variants, because a variant is as large as
/// its largest type, and values of the large types are rare.
inline constexpr std::size_t unboxed_max = 224;

/// The type that a variant stores for `T`.
template <class T>
using MaybeBoxed = std::conditional_t<(sizeof(T) > unboxed_max), Boxed<T>, T>;

/// Returns the value of a `MaybeBoxed<T>`.
template <class T>
[[nodiscard]] const T& unboxed(const MaybeBoxed<T>& stored) noexcept {
    if constexpr (std::is_same_v<MaybeBoxed<T>, T>) {
        return stored;
    } else {
        return *stored;
    }
}

}  // namespace routemaster::detail
