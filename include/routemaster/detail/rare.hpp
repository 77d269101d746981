/// @file
/// `Rare<T>`: a value that usually equals its default, stored on the heap only if it differs.

#pragma once

#include <memory>
#include <utility>

namespace routemaster::detail {

/// A `T` that uses heap memory only when it differs from `T{}`. A copy copies the value. A
/// moved-from object equals `T{}`.
///
/// Thread safety: a plain value; concurrent reads are safe.
template <class T>
class Rare {
public:
    Rare() = default;
    Rare(T value) : value_{value == T{} ? nullptr : std::make_unique<T>(std::move(value))} {}
    Rare(const Rare& other) : value_{other.value_ ? std::make_unique<T>(*other.value_) : nullptr} {}
    Rare(Rare&&) noexcept = default;
    Rare& operator=(const Rare& other) { return *this = Rare{other}; }
    Rare& operator=(Rare&&) noexcept = default;
    ~Rare() = default;

    [[nodiscard]] const T& operator*() const noexcept { return value_ ? *value_ : usual(); }
    [[nodiscard]] const T* operator->() const noexcept { return &**this; }

    friend bool operator==(const Rare& a, const Rare& b) { return *a == *b; }

private:
    [[nodiscard]] static const T& usual() noexcept {
        static const T value{};
        return value;
    }

    std::unique_ptr<T> value_;
};

}  // namespace routemaster::detail
