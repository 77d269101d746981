/// @file
/// The memory budget for unread responses of a server.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace routemaster::detail {

/// Counter of the bytes of responses that clients have not read, and of reservations for responses
/// that handlers create. Thread safe.
class AnswerBudget {
public:
    explicit AnswerBudget(std::size_t bytes_max) noexcept : bytes_max_{bytes_max} {}

    /// Changes a reservation of `from` bytes to `to` bytes. Returns false without a change if this
    /// would exceed the budget. If nothing else is reserved, a response of any size is allowed.
    [[nodiscard]] bool resize(std::size_t from, std::size_t to) noexcept {
        const auto others = used_.fetch_add(to - from, std::memory_order_relaxed) - from;
        if (to <= from || others == 0) return true;
        if (to <= bytes_max_ && others <= bytes_max_ - to) return true;
        resize_anyway(to, from);
        return false;
    }

    /// Changes a reservation even if this exceeds the budget.
    void resize_anyway(std::size_t from, std::size_t to) noexcept {
        used_.fetch_add(to - from, std::memory_order_relaxed);
    }

    [[nodiscard]] bool scarce() const noexcept {
        return used_.load(std::memory_order_relaxed) > bytes_max_ / 2;
    }

private:
    const std::size_t bytes_max_;
    std::atomic<std::size_t> used_{0};
};

/// RAII reservation for a response. It shares ownership of the budget, because a handler may
/// respond after the server is destroyed.
///
/// Thread safety: a value.
class AnswerMemory {
public:
    AnswerMemory() = default;
    explicit AnswerMemory(std::shared_ptr<AnswerBudget> budget) noexcept
        : budget_{std::move(budget)} {}
    AnswerMemory(AnswerMemory&& other) noexcept
        : budget_{std::move(other.budget_)}, bytes_{std::exchange(other.bytes_, 0)} {}
    AnswerMemory& operator=(AnswerMemory&& other) noexcept {
        std::swap(budget_, other.budget_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~AnswerMemory() {
        if (budget_) budget_->resize_anyway(bytes_, 0);
    }

    [[nodiscard]] bool resize(std::size_t bytes) noexcept {
        if (!budget_->resize(bytes_, bytes)) return false;
        bytes_ = bytes;
        return true;
    }

    void resize_anyway(std::size_t bytes) noexcept {
        budget_->resize_anyway(std::exchange(bytes_, bytes), bytes);
    }

    [[nodiscard]] bool empty() const noexcept { return bytes_ == 0; }

private:
    std::shared_ptr<AnswerBudget> budget_;
    std::size_t bytes_ = 0;
};

}  // namespace routemaster::detail
