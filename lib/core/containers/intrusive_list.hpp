/// @file
/// A doubly linked list whose links are members of the elements. Insertion allocates nothing, and
/// removal takes constant time.

#pragma once

#include <cstddef>

namespace routemaster::detail {

template <class T>
struct ListHook {
    T* previous = nullptr;
    T* next = nullptr;
};

/// Intrusive list of `T`, linked through the member `Hook`. The list does not own its elements.
/// Remove an element before destroying it.
template <class T, ListHook<T> T::*Hook>
class IntrusiveList {
public:
    [[nodiscard]] bool empty() const noexcept { return front_ == nullptr; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T* front() const noexcept { return front_; }
    [[nodiscard]] T* back() const noexcept { return back_; }
    [[nodiscard]] static T* next(const T& element) noexcept { return (element.*Hook).next; }
    [[nodiscard]] static T* previous(const T& element) noexcept { return (element.*Hook).previous; }

    void push_back(T& element) noexcept {
        auto& hook = element.*Hook;
        hook.previous = back_;
        hook.next = nullptr;
        (back_ != nullptr ? (back_->*Hook).next : front_) = &element;
        back_ = &element;
        ++size_;
    }

    /// Inserts an element behind `before`; if `before` is null, at the front.
    void insert_after(T* before, T& element) noexcept {
        if (before == back_) return push_back(element);
        auto& hook = element.*Hook;
        auto*& link = before != nullptr ? (before->*Hook).next : front_;
        hook.previous = before;
        hook.next = link;
        (link->*Hook).previous = &element;
        link = &element;
        ++size_;
    }

    void remove(T& element) noexcept {
        auto& hook = element.*Hook;
        (hook.previous != nullptr ? (hook.previous->*Hook).next : front_) = hook.next;
        (hook.next != nullptr ? (hook.next->*Hook).previous : back_) = hook.previous;
        hook = {};
        --size_;
    }

    /// Empties the list without reading or changing the elements.
    void clear() noexcept { *this = {}; }

private:
    T* front_ = nullptr;
    T* back_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace routemaster::detail
