/// @file
/// `Required<T>`: a mandatory member of an aggregate.

#pragma once

#include <utility>

namespace routemaster {

/// A mandatory member of type `T`: an aggregate initialised without it does not compile.
///
///     Event{.topic = "orders", .url = "https://shop.example/1"};  // error: no type
///
/// Thread safety: as safe as `T`.
template <class T>
class Required {
public:
    constexpr Required(T value) : value_{std::move(value)} {}
    constexpr operator const T&() const noexcept { return value_; }

private:
    T value_;
};

}  // namespace routemaster
